package signpost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Maximum length of an event of a stream, in bytes.
const maxStreamEvent = 64 << 10

// errIdle is the cause of a stream that ends because it sent nothing during the timeout.
var errIdle = errors.New("the stream sent nothing during the timeout")

// Follow iterates over the states of a session: the current state, and each later state until it is final. Unlike
// [Sessions.Wait], it is not resumed after a lost connection, which is its last error. The timeout of the client applies
// to each pause of the stream.
func (s *Sessions) Follow(ctx context.Context, id string) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(s.c.timeout, func() { cancel(errIdle) })
		defer idle.Stop()
		response, err := s.openStream(ctx, id)
		if err != nil {
			yield(nil, streamError(ctx, err))
			return
		}
		defer response.Body.Close()
		events := bufio.NewScanner(response.Body)
		events.Buffer(nil, maxStreamEvent)
		for {
			data, err := nextEvent(events, func() { idle.Reset(s.c.timeout) })
			idle.Stop() // The caller may take its time.
			if err == io.EOF {
				return
			}
			session := new(Session)
			if err == nil && json.Unmarshal([]byte(data), session) != nil {
				err = &Error{Code: CodeInvalidResponse, Message: "the stream has an event that is no session"}
			}
			if err != nil {
				yield(nil, streamError(ctx, err))
				return
			}
			if !yield(session, nil) {
				return
			}
			idle.Reset(s.c.timeout)
		}
	}
}

// openStream returns the response with the stream, or the error of the service.
func (s *Sessions) openStream(ctx context.Context, id string) (*http.Response, error) {
	path, err := path("/sessions/{}/events", id)
	if err != nil {
		return nil, err
	}
	k := call{method: http.MethodGet, path: path, accept: "text/event-stream, application/json"}
	if err := s.c.checkHeaders(k); err != nil {
		return nil, err
	}
	request, err := s.c.request(ctx, k, nil)
	if err != nil {
		return nil, &Error{Code: CodeInvalidArgument, Message: err.Error(), cause: err}
	}
	response, err := s.c.http.Do(request)
	if err != nil {
		return nil, lost(err)
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusOK && err == nil && kind == "text/event-stream" {
		return response, nil
	}
	defer response.Body.Close()
	r := &reply{status: response.StatusCode, header: response.Header}
	if r.body, err = io.ReadAll(io.LimitReader(response.Body, maxReply)); err != nil {
		return nil, lost(err)
	}
	if r.status < 200 || r.status > 299 {
		return nil, s.c.refusal(r)
	}
	return nil, r.unexpected("it is no stream of events", nil)
}

// nextEvent returns the data of the next event, or [io.EOF]. Comments keep the connection open; each line calls onLine.
func nextEvent(lines *bufio.Scanner, onLine func()) (string, error) {
	var data []string
	length := 0
	for lines.Scan() {
		onLine()
		line := lines.Text()
		if line == "" && data != nil {
			return strings.Join(data, "\n"), nil
		}
		value, isData := strings.CutPrefix(line, "data:")
		if !isData {
			continue
		}
		length += len(value)
		if length > maxStreamEvent {
			return "", &Error{Code: CodeInvalidResponse, Message: "the stream has an event that is too long"}
		}
		data = append(data, strings.TrimPrefix(value, " "))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return "", &Error{Code: CodeInvalidResponse, Message: "the stream has an event that is too long"}
	case err != nil:
		return "", lost(err)
	}
	return "", io.EOF
}

// streamError returns the timeout of the stream instead of the failure that it causes.
func streamError(ctx context.Context, err error) error {
	if context.Cause(ctx) == errIdle {
		return &Error{Code: CodeTimeout, Message: errIdle.Error(), cause: errIdle}
	}
	return err
}
