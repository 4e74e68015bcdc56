package signpost

import (
	"fmt"
	"time"
)

// Error is the type of all errors of this package. Code is a code of the service or of this list:
//
//   - connection_failed: the connection failed before the reply was complete
//   - timeout: the reply was not complete in time
//   - invalid_response: a reply that violates the API: no JSON, too long, a redirect
//   - tool_error, mcp_error: an error of the locator
//   - invalid_argument: wrong use, detected before a request was sent
//   - invalid_signature (without a status), invalid_secret, invalid_event, parsed_body: see [VerifyWebhook]
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status of the reply; 0 if there was none.
	Status int
	// Details are the machine-readable details; its members depend on Code.
	Details map[string]any
	// RequestID identifies the request in the service's log; empty if there was no reply.
	RequestID string
	// RetryAfter is the time to wait before a retry; 0 if the service sent none.
	RetryAfter time.Duration

	cause error
}

func (e *Error) Error() string {
	text := "signpost: " + e.Code + ": " + e.Message
	if e.RequestID != "" {
		text += " (" + e.RequestID + ")"
	}
	return text
}

// Unwrap returns the cause, such as [context.Canceled].
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) reason() string {
	reason, _ := e.Details["reason"].(string)
	return reason
}

func invalidArgument(format string, values ...any) *Error {
	return &Error{Code: "invalid_argument", Message: fmt.Sprintf(format, values...)}
}
