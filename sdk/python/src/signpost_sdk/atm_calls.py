"""The calls of the ATM locator."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from .calls import Calls, given
from .core import as_reply, path
from .locator import AtmDetails, AtmStatus, CityAtms, NearestAtms, SeveralAtms
from .reports import AtmReport, Finding, FindingSource, ImportOutcome
from .steps import Steps


class AtmCalls(Calls):
    """Bitcoin ATMs, from the server's MCP endpoint, to which no API key is sent; and reports about them."""

    def nearest(
        self,
        location: str | None = None,
        *,
        lat: float | None = None,
        lon: float | None = None,
        country: str | None = None,
        limit: int | None = None,
        max_distance: float | None = None,
        open_now: bool | None = None,
        service: Literal["buy", "sell"] | None = None,
        coin: str | None = None,
        units: Literal["miles", "km"] | None = None,
    ) -> Steps[NearestAtms]:
        """Returns ATMs near `location` ("Austin, TX", "78701", "LAX") or `lat` and `lon`; `max_distance` in miles.

        Places of `country` (an ISO 3166-1 alpha-2 code) are preferred.
        """
        arguments = {"location": location, "lat": lat, "lon": lon, "country": country, "limit": limit}
        arguments |= {
            "maxDistance": max_distance,
            "openNow": open_now,
            "service": service,
            "coin": coin,
            "units": units,
        }
        return self.core.call_tool("find_nearest_bitcoin_atm", arguments, NearestAtms)

    def get(self, atm_id: int) -> Steps[AtmDetails]:
        """Returns the details of an ATM."""
        return self.core.call_tool("get_atm_details", {"atmId": atm_id}, AtmDetails)

    def get_many(self, atm_ids: Sequence[int]) -> Steps[SeveralAtms]:
        """Returns the details of 1 to 20 ATMs."""
        return self.core.call_tool("get_atm_details", {"atmIds": list(atm_ids)}, SeveralAtms)

    def status(
        self,
        location: str | None = None,
        *,
        lat: float | None = None,
        lon: float | None = None,
        country: str | None = None,
        radius: float | None = None,
        limit: int | None = None,
        units: Literal["miles", "km"] | None = None,
    ) -> Steps[AtmStatus]:
        """Counts the ATMs near a place by status; `radius` in miles, `country` as in `nearest`."""
        arguments = {"location": location, "lat": lat, "lon": lon, "country": country}
        arguments |= {"radius": radius, "limit": limit, "units": units}
        return self.core.call_tool("check_atm_status", arguments, AtmStatus)

    def list_by_city(
        self, *, city: str, state: str, cursor: str | None = None, units: Literal["miles", "km"] | None = None
    ) -> Steps[CityAtms]:
        """Returns the ATMs of a city; `state` is the two-letter code of a state or province."""
        arguments = {"city": city, "state": state, "cursor": cursor, "units": units}
        return self.core.call_tool("list_atms_by_city", arguments, CityAtms)

    def submit(self, locations: Iterable[Mapping[str, Any]]) -> Steps[ImportOutcome]:
        """Submits an operator's ATMs, of which only the coordinates are required. Needs an API key with the scope `atms`."""
        body = {"locations": [*locations]}
        return self.core.call("POST", "/atms/submissions", as_reply(ImportOutcome), repeat=False, body=body)

    def report(
        self,
        atm_id: int,
        seen: Finding,
        *,
        how: FindingSource | None = None,
        at: str | None = None,
        text: str | None = None,
        pow: str | None = None,
        as_operator: bool = False,
    ) -> Steps[AtmReport]:
        """Reports the state of an ATM, without the API key.

        `as_operator` sends the API key, which needs the scope `atms`: if its account has submitted the ATM, the report takes
        effect at once. `at` is RFC 3339, `text` at most 280 characters for the moderator, `pow` a proof of work.
        """
        body = given(seen=seen, how=how, at=at, text=text, pow=pow)
        target = path("atms", str(atm_id), "reports")
        return self.core.call("POST", target, as_reply(AtmReport), repeat=False, body=body, has_key=as_operator)
