package signpost

import (
	"fmt"
	"time"
)

// Error is every error of this package. Programs decide by Code, which is one of the service's codes or one of these:
//
//   - connection_failed: no reply came, or it was cut
//   - timeout: no reply came in time
//   - invalid_response: a reply that is not what was promised: no JSON, too long, a redirect
//   - tool_error, mcp_error: the locator refused a call
//   - invalid_argument: wrong use that was noticed before anything was sent
//   - invalid_signature (without a status), invalid_secret, invalid_event, parsed_body: see [VerifyWebhook]
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status of the reply; 0 if there was none.
	Status int
	// Details is what a program needs to act on the error; its members depend on Code.
	Details map[string]any
	// RequestID names the request in the service's log; empty if there was no reply.
	RequestID string
	// RetryAfter is how long the service asked to wait; 0 if it did not ask.
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

// Unwrap gives what the network said, such as [context.Canceled].
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) reason() string {
	reason, _ := e.Details["reason"].(string)
	return reason
}

func invalidArgument(format string, values ...any) *Error {
	return &Error{Code: "invalid_argument", Message: fmt.Sprintf(format, values...)}
}
