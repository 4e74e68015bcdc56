package signpost

import (
	"fmt"
	"time"
)

// Error is the type of all errors of this package; use it with [errors.As]. Programs check Code; messages may change.
type Error struct {
	Code    ErrorCode
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
	text := "signpost: " + string(e.Code) + ": " + e.Message
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
	return &Error{Code: CodeInvalidArgument, Message: fmt.Sprintf(format, values...)}
}
