package signpost

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// ATMSubmission contains an operator's ATMs, in the format that operators push to directories. Only coordinates are required.
type ATMSubmission struct {
	Locations []map[string]any `json:"locations"`
}

// FirstOf is a list that is cut off after its first entries.
type FirstOf[T any] struct {
	Total int `json:"total"`
	First []T `json:"first"`
}

// SkippedLocation is a location that was not stored. Item is its position in the submission, from 1.
type SkippedLocation struct {
	Item   int    `json:"item"`
	Reason string `json:"reason"`
}

// UnparsedField is a field that could not be parsed, and is stored as unknown.
type UnparsedField struct {
	Item   int    `json:"item"`
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

// SubmissionDates are the dates of the locations. Undated is the number of locations without a date.
type SubmissionDates struct {
	Newest  time.Time `json:"newest,omitzero"`
	Oldest  time.Time `json:"oldest,omitzero"`
	Undated int       `json:"undated"`
}

// ImportOutcome is the result of a submission.
type ImportOutcome struct {
	Source string `json:"source"`
	// DryRun is true in the sandbox, which stores nothing.
	DryRun    bool `json:"dry_run"`
	Added     int  `json:"added"`
	Changed   int  `json:"changed"`
	Unchanged int  `json:"unchanged"`
	Removed   int  `json:"removed"`
	// Filtered is the number of locations that are not Bitcoin ATMs.
	Filtered      int                      `json:"filtered"`
	Skipped       FirstOf[SkippedLocation] `json:"skipped"`
	Doubts        FirstOf[UnparsedField]   `json:"doubts"`
	Dates         *SubmissionDates         `json:"dates,omitempty"`
	Columns       map[string]string        `json:"columns"`
	UnusedColumns FirstOf[string]          `json:"unused_columns"`
	// UnusedDates are the members with dates that were not used, if there are any.
	UnusedDates []string `json:"unused_dates,omitempty"`
}

// ATMReportParams is a finding at an ATM: only Seen is required.
type ATMReportParams struct {
	// Seen is there, gone, broken, wrong_place, wrong_hours or other, which requires a Text.
	Seen string `json:"seen"`
	// How is used, saw, asked or phoned.
	How string `json:"how,omitempty"`
	// At is the time of the finding, within the last 90 days. Default: now.
	At time.Time `json:"at,omitzero"`
	// Text is a note for the moderator, at most 280 characters.
	Text string `json:"text,omitempty"`
	// Pow is a proof of work; see the API reference.
	Pow string `json:"pow,omitempty"`
}

// ATMReport is a stored report. State is new, shown, accepted, rejected, duplicate or expired.
type ATMReport struct {
	ID        string    `json:"id"`
	ATMID     int64     `json:"atm_id"`
	Seen      string    `json:"seen"`
	How       string    `json:"how,omitempty"`
	At        time.Time `json:"at"`
	State     string    `json:"state"`
	Weight    int       `json:"weight"`
	CreatedAt time.Time `json:"created_at"`
	DryRun    bool      `json:"dry_run,omitempty"`
}

// Submit submits an operator's ATMs. It requires an API key with the scope atms.
func (a *ATMs) Submit(ctx context.Context, submission ATMSubmission) (*ImportOutcome, error) {
	return fetch[ImportOutcome](ctx, a.c, call{method: http.MethodPost, path: "/atms/submissions", body: submission})
}

// Report reports the state of an ATM, without the API key.
func (a *ATMs) Report(ctx context.Context, atmID int64, report ATMReportParams) (*ATMReport, error) {
	return a.report(ctx, atmID, call{method: http.MethodPost, body: report, anonymous: true})
}

// ReportAsOperator reports the state of an ATM with an API key with the scope atms. The report takes effect at once, if the
// account has submitted the ATM.
func (a *ATMs) ReportAsOperator(ctx context.Context, atmID int64, report ATMReportParams) (*ATMReport, error) {
	return a.report(ctx, atmID, call{method: http.MethodPost, body: report})
}

func (a *ATMs) report(ctx context.Context, atmID int64, k call) (*ATMReport, error) {
	return to[ATMReport](ctx, a.c, k, "/atms/{}/reports", strconv.FormatInt(atmID, 10))
}
