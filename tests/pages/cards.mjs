// Results for the card.
const SINCE = '2026-11-01T12:00:00Z';

/** 60 ATMs of a city, and an ATM with markup in its name. */
export const MACHINES = `ref,lat,lon,name,street,city,state\n${Array.from({ length: 60 }, (_, at) => `${at},${30.2 + at / 1000},${-97.7 - at / 1000},Corner Shop ${at},${at} Main St,Austin,TX`).join('\n')}
hostile,47.6,-122.33,<img src=x onerror=alert(1),1 Pine St,Seattle,WA\n`;

/** An ATM of each status, and of each reason for an unknown status. */
const KNOWN = [
  { status: 'open', closesAt: '2026-11-23T22:00:00-06:00', statusReason: 'reported in service; within its opening hours', statusAsOf: SINCE },
  { status: 'closed', opensAt: '2026-11-24T07:00:00-06:00', statusReason: 'outside its opening hours', statusAsOf: SINCE },
  { status: 'temporarily_closed', statusReason: 'reported temporarily closed', statusAsOf: SINCE },
  { status: 'out_of_service', statusReason: 'reported out of service' },
  { status: 'permanently_closed', statusReason: 'reported permanently closed', statusAsOf: SINCE },
  { status: 'unknown', statusReason: 'reported in service, but more than 365 days ago', statusAsOf: '2023-03-04T00:00:00Z' },
  { status: 'unknown', statusReason: 'reported in service; opening hours not known', statusAsOf: SINCE },
  { status: 'unknown' },
  { status: 'unknown', statusReason: '2 people say that it is gone; newest of 2026-11-20', statusAsOf: SINCE },
  { status: 'open', statusReason: 'reported in service; always open', statusAsOf: SINCE, reports: '1 person says that it is gone; newest of 2026-11-20' },
];

const LAW = { id: 'law', kind: 'limit', text: 'State law limits what a machine may take from you to $2,000 a day.', effective: '2026-07-01', checked: '2026-11-22', sourceUrl: 'https://law.example/1' };
const SCAM = { id: 'scam', kind: 'scam', text: 'Nobody honest sends you to a Bitcoin ATM to pay or protect money: that is a scam.', checked: '2026-11-22', sourceUrl: 'https://law.example/2' };
const BAN = { id: 'ban', kind: 'ban', text: 'Minnesota law forbids Bitcoin ATMs since 1 August 2026. A machine listed here may be switched off or gone.', effective: '2026-08-01', checked: '2026-11-22', sourceUrl: 'https://law.example/3' };

const machine = (known, at) => ({
  id: at + 1, name: `Corner Shop ${at + 1}`, distance: `${(at + 1) * 0.7} miles`.replace(/(\.\d)\d*/, '$1'), distanceMeters: 1100 * (at + 1),
  address: `${100 + at} Congress Avenue, Austin, TX 78701`, lat: 30.267 + 0.01 * at * Math.cos(at * 2.4), lon: -97.743 + 0.01 * at * Math.sin(at * 2.4), ...known,
});

/** Returns a result with all of them; `more` are additional members. */
export function found(more = {}) {
  const structuredContent = {
    atms: KNOWN.map(machine), total: KNOWN.length, truncated: false, dataAsOf: SINCE,
    resolvedLocation: { name: 'Austin', region: 'Texas', country: 'US', lat: 30.267, lon: -97.743, source: 'place', confidence: 0.95, alternatives: [] },
    advisories: [LAW, SCAM], attribution: ['Machines: a source of tests', 'Place names: GeoNames, CC BY 4.0'], ...more,
  };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** Returns a result for a place with a legal ban. */
function banned() {
  const law = { status: 'unknown', statusReason: 'state law since 1 August 2026', statusAsOf: SINCE };
  const notice = 'Minnesota law forbids Bitcoin ATMs since 1 August 2026. The nearest outside is 288.3 miles away (id 150).';
  const place = { name: 'Minneapolis', region: 'Minnesota', lat: 30.267, lon: -97.743 };
  return found({ atms: [0, 1, 2].map((at) => machine(law, at)), total: 3, notice, advisories: [BAN, SCAM], resolvedLocation: place, counts: { unknown: 3 } });
}

/** Name → a function that shows a card in an assistant. */
export const CARD_STATES = {
  loading: (assistant) => assistant.do('input', { location: 'Austin, TX' }),
  found: async (assistant) => {
    await assistant.do('input', { location: 'Austin, TX' });
    await assistant.do('result', found());
    await assistant.card.getByRole('button').click();
  },
  banned: async (assistant) => {
    await assistant.do('input', { location: 'Minneapolis, MN' });
    await assistant.do('result', banned());
  },
  nothing: async (assistant) => {
    await assistant.do('input', { location: 'Marfa, TX' });
    await assistant.do('result', found({ atms: [], total: 0, advisories: [], notice: 'No Bitcoin ATM is known within 25.0 miles of Marfa, Texas. The nearest is 180.2 miles away (id 7).' }));
  },
  failed: (assistant) => assistant.do('result', { isError: true, content: [{ type: 'text', text: '\'Nowhere at all\' was not understood: no place is known as "Nowhere at all". Give a city and a state.' }] }),
};
