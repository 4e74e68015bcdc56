package signpost

import (
	"context"
	"encoding/json"
	"net/http"
)

// ATMs are the calls of the server's ATM locator, and submissions and reports of ATMs. The locator's tools are called with
// the token of [WithMCPToken], if it is set, and never with the API key.
type ATMs struct{ c *Client }

// Position is a place on the earth, in degrees.
type Position struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// NearestParams selects a place by Location or by Position. Units is miles (the default) or km, also for MaxDistance.
type NearestParams struct {
	Location string `json:"location,omitempty"`
	*Position
	// Country is the ISO 3166-1 alpha-2 code of the country whose places are preferred.
	Country     string  `json:"country,omitempty"`
	Limit       int     `json:"limit,omitempty"`
	MaxDistance float64 `json:"maxDistance,omitempty"`
	OpenNow     bool    `json:"openNow,omitempty"`
	// Service is buy or sell.
	Service string `json:"service,omitempty"`
	Coin    string `json:"coin,omitempty"`
	Units   string `json:"units,omitempty"`
}

// StatusParams selects an area by Location or by Position. Units is miles (the default) or km, also for Radius.
type StatusParams struct {
	Location string `json:"location,omitempty"`
	*Position
	// Country is the ISO 3166-1 alpha-2 code of the country whose places are preferred.
	Country string  `json:"country,omitempty"`
	Radius  float64 `json:"radius,omitempty"`
	Limit   int     `json:"limit,omitempty"`
	Units   string  `json:"units,omitempty"`
}

// CityParams selects a city by its name and the two-letter code of its state.
type CityParams struct {
	City   string `json:"city"`
	State  string `json:"state"`
	Cursor string `json:"cursor,omitempty"`
	Units  string `json:"units,omitempty"`
}

// ATM is an ATM in a list.
type ATM struct {
	ID             int64   `json:"id"`
	Name           string  `json:"name"`
	Operator       string  `json:"operator,omitempty"`
	Distance       string  `json:"distance"`
	DistanceMeters int64   `json:"distanceMeters"`
	Status         string  `json:"status"`
	StatusReason   string  `json:"statusReason,omitempty"`
	StatusAsOf     string  `json:"statusAsOf,omitempty"`
	Address        string  `json:"address"`
	Lat            float64 `json:"lat"`
	Lon            float64 `json:"lon"`
	// URL is the page of the ATM.
	URL string `json:"url,omitempty"`
	// Directions is the URL of a map service with directions, in the first ten ATMs.
	Directions string `json:"directions,omitempty"`
	// LastConfirmed is when a source or a report last confirmed the ATM.
	LastConfirmed string            `json:"lastConfirmed,omitempty"`
	Phone         string            `json:"phone,omitempty"`
	Fees          map[string]string `json:"fees,omitempty"`
	Limits        map[string]string `json:"limits,omitempty"`
	Hours         string            `json:"hours,omitempty"`
	OpensAt       string            `json:"opensAt,omitempty"`
	ClosesAt      string            `json:"closesAt,omitempty"`
	Reports       string            `json:"reports,omitempty"`
}

// ATMList is a list of ATMs, nearest first, with texts for users. Notice, Advisories and Attribution must be shown with
// the list. DataAsOf is the date of the newest listed ATM; OldestDataAsOf is set if the oldest is more than a year older.
// HowToReport is how people report an ATM that is gone or wrong.
type ATMList struct {
	ATMs           []ATM      `json:"atms"`
	Total          int64      `json:"total"`
	Truncated      bool       `json:"truncated"`
	DataAsOf       string     `json:"dataAsOf,omitempty"`
	OldestDataAsOf string     `json:"oldestDataAsOf,omitempty"`
	Notice         string     `json:"notice,omitempty"`
	HowToReport    string     `json:"howToReport,omitempty"`
	Advisories     []Advisory `json:"advisories,omitempty"`
	Attribution    []string   `json:"attribution"`
}

// NearestATMs are the ATMs around a place.
type NearestATMs struct {
	ATMList
	ResolvedLocation *ResolvedLocation `json:"resolvedLocation,omitempty"`
}

// CityATMs is a page of a city's ATMs.
type CityATMs struct {
	ATMList
	NextCursor string `json:"nextCursor,omitempty"`
}

// ATMStatus is the number of ATMs by status, with the nearest of them.
type ATMStatus struct {
	ATMList
	ResolvedLocation *ResolvedLocation `json:"resolvedLocation,omitempty"`
	Counts           map[string]int64  `json:"counts"`
	AsOf             string            `json:"asOf"`
}

// ResolvedLocation is the interpretation of a location. Confidence is 0 to 1. Dropped lists the parts of the text that
// were not used.
type ResolvedLocation struct {
	Place
	Source       string   `json:"source,omitempty"`
	Confidence   float64  `json:"confidence"`
	Dropped      []string `json:"dropped,omitempty"`
	Alternatives []Place  `json:"alternatives"`
}

// Place is a named place. Region is its state, province or other administrative division.
type Place struct {
	Name    string `json:"name,omitempty"`
	Region  string `json:"region,omitempty"`
	Country string `json:"country,omitempty"`
	County  string `json:"county,omitempty"`
	Position
}

// Advisory is a legal or fraud notice for a place, with its source.
type Advisory struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Text      string `json:"text"`
	Effective string `json:"effective,omitempty"`
	Checked   string `json:"checked"`
	SourceURL string `json:"sourceUrl,omitempty"`
}

// SeveralATMs are the details of several ATMs. NotFound are the unknown IDs. Notice and Advisories must be shown with them.
type SeveralATMs struct {
	ATMs        []ATMDetails `json:"atms"`
	NotFound    []int64      `json:"notFound"`
	Notice      string       `json:"notice,omitempty"`
	HowToReport string       `json:"howToReport,omitempty"`
	Advisories  []Advisory   `json:"advisories,omitempty"`
}

// ATMDetails are the details of an ATM. Listed is false if its source removed the ATM in the last 90 days.
type ATMDetails struct {
	ID             int64             `json:"id"`
	Name           string            `json:"name"`
	Status         string            `json:"status"`
	StatusReason   string            `json:"statusReason"`
	StatusAsOf     string            `json:"statusAsOf,omitempty"`
	Freshness      string            `json:"freshness"`
	VerifiedAt     string            `json:"verifiedAt,omitempty"`
	EndDate        string            `json:"endDate,omitempty"`
	VerifiedBy     string            `json:"verifiedBy,omitempty"`
	Address        string            `json:"address"`
	AddressParts   map[string]string `json:"addressParts,omitempty"`
	LocatedIn      string            `json:"locatedIn,omitempty"`
	Placement      map[string]string `json:"placement,omitempty"`
	Lat            float64           `json:"lat"`
	Lon            float64           `json:"lon"`
	TimeZone       string            `json:"timeZone,omitempty"`
	Hours          string            `json:"hours,omitempty"`
	OpensAt        string            `json:"opensAt,omitempty"`
	ClosesAt       string            `json:"closesAt,omitempty"`
	Operator       string            `json:"operator,omitempty"`
	OperatorNotice string            `json:"operatorNotice,omitempty"`
	Brand          string            `json:"brand,omitempty"`
	BrandWikidata  string            `json:"brandWikidata,omitempty"`
	Network        string            `json:"network,omitempty"`
	Machine        map[string]string `json:"machine,omitempty"`
	Buy            string            `json:"buy,omitempty"`
	Sell           string            `json:"sell,omitempty"`
	Coins          map[string]string `json:"coins,omitempty"`
	Fiat           []string          `json:"fiat,omitempty"`
	Fees           map[string]string `json:"fees,omitempty"`
	Limits         map[string]string `json:"limits,omitempty"`
	URL            string            `json:"url,omitempty"`
	Directions     string            `json:"directions,omitempty"`
	LastConfirmed  string            `json:"lastConfirmed,omitempty"`
	Listed         *bool             `json:"listed,omitempty"`
	HowToReport    string            `json:"howToReport,omitempty"`
	KYC            string            `json:"kyc,omitempty"`
	Trades         map[string]any    `json:"trades,omitempty"`
	Reports        map[string]any    `json:"reports,omitempty"`
	Phone          string            `json:"phone,omitempty"`
	Email          string            `json:"email,omitempty"`
	Website        string            `json:"website,omitempty"`
	SupportHours   string            `json:"supportHours,omitempty"`
	Wheelchair     string            `json:"wheelchair,omitempty"`
	Images         []string          `json:"images,omitempty"`
	Notice         string            `json:"notice,omitempty"`
	Advisories     []Advisory        `json:"advisories,omitempty"`
	Sources        []ATMSource       `json:"sources"`
	Attribution    []string          `json:"attribution"`
}

// ATMSource is a data source of an ATM, with the fields that come from it.
type ATMSource struct {
	ATMID       int64    `json:"atmId"`
	Name        string   `json:"name"`
	Parts       []string `json:"parts"`
	Ref         string   `json:"ref,omitempty"`
	URL         string   `json:"url,omitempty"`
	DataAsOf    string   `json:"dataAsOf,omitempty"`
	ImportedAt  string   `json:"importedAt,omitempty"`
	Attribution string   `json:"attribution,omitempty"`
}

// Nearest finds ATMs around a place.
func (a *ATMs) Nearest(ctx context.Context, params NearestParams) (*NearestATMs, error) {
	return callTool[NearestATMs](ctx, a.c, "find_nearest_bitcoin_atm", params)
}

// Get returns the details of an ATM.
func (a *ATMs) Get(ctx context.Context, atmID int64) (*ATMDetails, error) {
	return callTool[ATMDetails](ctx, a.c, "get_atm_details", map[string]int64{"atmId": atmID})
}

// GetMany returns the details of 1 to 20 ATMs.
func (a *ATMs) GetMany(ctx context.Context, atmIDs []int64) (*SeveralATMs, error) {
	return callTool[SeveralATMs](ctx, a.c, "get_atm_details", map[string][]int64{"atmIds": atmIDs})
}

// Status counts the ATMs around a place by status.
func (a *ATMs) Status(ctx context.Context, params StatusParams) (*ATMStatus, error) {
	return callTool[ATMStatus](ctx, a.c, "check_atm_status", params)
}

// ListByCity returns a page of a city's ATMs.
func (a *ATMs) ListByCity(ctx context.Context, params CityParams) (*CityATMs, error) {
	return callTool[CityATMs](ctx, a.c, "list_atms_by_city", params)
}

// MCPURL returns the MCP URL for AI assistants; empty if the base URL is invalid.
func (a *ATMs) MCPURL() string {
	if a.c.misuse != nil {
		return ""
	}
	return a.c.mcp
}

func callTool[T any](ctx context.Context, c *Client, name string, arguments any) (*T, error) {
	body := map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments},
	}
	r, err := c.do(ctx, call{method: http.MethodPost, body: body, repeatable: true, locator: true, accept: "application/json, text/event-stream"})
	if err != nil {
		return nil, err
	}
	var said struct {
		Result *struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			StructuredContent *T   `json:"structuredContent"`
			IsError           bool `json:"isError"`
		} `json:"result"`
	}
	if refused := rpcError(r); refused != nil {
		return nil, refused
	}
	if err := decode(r, &said); err != nil {
		return nil, err
	}
	switch {
	case said.Result != nil && said.Result.IsError:
		failure := r.unexpected("", nil)
		failure.Code, failure.Message = CodeToolError, "the locator refused the call"
		if len(said.Result.Content) > 0 {
			failure.Message = said.Result.Content[0].Text
		}
		return nil, failure
	case said.Result == nil || said.Result.StructuredContent == nil:
		return nil, r.unexpected("it has no structuredContent", nil)
	}
	return said.Result.StructuredContent, nil
}

// rpcError returns the error of a JSON-RPC reply, or nil.
func rpcError(r *reply) *Error {
	var said struct {
		Error *struct {
			Code    *int64 `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(r.body, &said) != nil || said.Error == nil || said.Error.Code == nil {
		return nil
	}
	failure := r.unexpected("", nil)
	failure.Code, failure.Message = CodeMCPError, said.Error.Message
	failure.Details = map[string]any{"code": *said.Error.Code}
	return failure
}
