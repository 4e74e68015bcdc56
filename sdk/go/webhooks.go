package signpost

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kinds of events. New kinds may be added; an endpoint must accept and ignore unknown kinds.
const (
	EventLogin    = "login"
	EventRegister = "register"
	EventLink     = "link"
	EventTest     = "test"

	EventUserUpdated       = "user.updated"
	EventUserDeleted       = "user.deleted"
	EventCredentialAdded   = "credential.added"
	EventCredentialRemoved = "credential.removed"
	EventUserSignedOut     = "user.signed_out"
)

const attemptTolerance = 5 * 60

// Event is an event that the service posts to the event URL of a domain.
type Event struct {
	// ID is identical for every attempt. It is empty if the sender implements only the specification.
	ID string `json:"id"`
	// Event is the kind.
	Event     string    `json:"event"`
	Timestamp time.Time `json:"timestamp"`
	SessionID string    `json:"session_id"`
	// Data is set for the kinds login, register and link.
	Data EventData `json:"data"`
	// User is set for the kinds about a change of a user, whose member data it is.
	User UserEventData `json:"-"`
	// Raw is the original JSON, including unknown members.
	Raw json.RawMessage `json:"-"`
}

// EventData is the signed proof of a login, a registration or a new key.
type EventData struct {
	PublicKey     string `json:"public_key"`
	Signature     string `json:"signature"`
	Challenge     string `json:"challenge"`
	SignedMessage string `json:"signed_message,omitempty"`
	SignedAt      int64  `json:"signed_at"`
	DeviceInfo    Device `json:"device_info"`
	// UserID and Method are set at hosted domains.
	UserID   string    `json:"user_id,omitempty"`
	Method   string    `json:"method,omitempty"`
	WebAuthn *WebAuthn `json:"webauthn,omitempty"`
}

// UserEventData is a change of a user.
type UserEventData struct {
	UserID string `json:"user_id"`
	// ExternalID is your ID of the user.
	ExternalID string `json:"external_id,omitempty"`
	// Changes are the changed members of the user, in user.updated.
	Changes map[string]ValueChange `json:"changes,omitempty"`
	// CredentialID, Kind and PublicKey are set in credential.added and credential.removed.
	CredentialID string `json:"credential_id,omitempty"`
	Kind         string `json:"kind,omitempty"`
	PublicKey    string `json:"public_key,omitempty"`
	// Everywhere tells whether all browsers and applications were signed out, in user.signed_out.
	Everywhere bool `json:"everywhere,omitempty"`
	// SignInID is the sign-in, if a single one ended, and ClientID its application, if it is not a browser.
	SignInID string `json:"sign_in_id,omitempty"`
	ClientID string `json:"client_id,omitempty"`
}

// ValueChange is the old and the new value of a member of a user, in JSON; null if there is none.
type ValueChange struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// WebAuthn is the data that a passkey signed, in base64url.
type WebAuthn struct {
	AuthenticatorData string `json:"authenticator_data"`
	ClientDataJSON    string `json:"client_data_json"`
}

// Identity returns the identity of an event, for deduplication: its ID, else its session and kind.
func (e *Event) Identity() string {
	if e.ID != "" {
		return e.ID
	}
	return e.SessionID + ":" + e.Event
}

// UnmarshalJSON parses an event. A login, a registration and a link require their proof.
func (e *Event) UnmarshalJSON(text []byte) error {
	var envelope struct {
		ID        string          `json:"id"`
		Event     string          `json:"event"`
		Timestamp *time.Time      `json:"timestamp"`
		SessionID *string         `json:"session_id"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return err
	}
	if envelope.Event == "" || envelope.Timestamp == nil || envelope.SessionID == nil || !bytes.HasPrefix(envelope.Data, []byte("{")) {
		return errors.New("event, timestamp, session_id and data are required")
	}
	if envelope.Event == "registration" {
		envelope.Event = EventRegister
	}
	read := Event{ID: envelope.ID, Event: envelope.Event, Timestamp: *envelope.Timestamp, SessionID: *envelope.SessionID}
	switch read.Event {
	case EventLogin, EventRegister, EventLink:
		if err := requireMembers(envelope.Data, "public_key", "signature", "challenge", "signed_at"); err != nil {
			return err
		}
		if err := json.Unmarshal(envelope.Data, &read.Data); err != nil {
			return err
		}
	case EventUserUpdated, EventUserDeleted, EventCredentialAdded, EventCredentialRemoved, EventUserSignedOut:
		if err := requireMembers(envelope.Data, "user_id"); err != nil {
			return err
		}
		if err := json.Unmarshal(envelope.Data, &read.User); err != nil {
			return err
		}
	}
	read.Raw = bytes.Clone(text)
	*e = read
	return nil
}

// MarshalJSON returns the original JSON.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Raw != nil {
		return e.Raw, nil
	}
	type plain Event
	return json.Marshal(plain(e))
}

func requireMembers(object []byte, names ...string) error {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &members); err != nil {
		return err
	}
	for _, name := range names {
		if value, ok := members[name]; !ok || string(value) == "null" {
			return errors.New("data." + name + " is missing")
		}
	}
	return nil
}

// VerifyWebhook checks the signature of an event over its raw body, and parses it. Pass both secrets during a rotation.
//
// X-Svc-Signature is required and must match; the headers of Standard Webhooks are checked if they are present. The code
// of an error is invalid_signature (Details["reason"] is missing, mismatch or timestamp), invalid_secret or invalid_event.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*Event, error) {
	return verifyWebhook(body, header, secrets, time.Now())
}

func verifyWebhook(body []byte, header http.Header, secrets []string, now time.Time) (*Event, error) {
	keys, err := standardKeys(secrets)
	if err != nil {
		return nil, err
	}
	if refused := authenticate(body, header, secrets, keys, now); refused != nil {
		return nil, refused
	}
	event := new(Event)
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return nil, &Error{Code: CodeInvalidEvent, Message: "the body is null and no event"}
	}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, &Error{Code: CodeInvalidEvent, Message: "the body is signed, and is no event: " + err.Error(), cause: err}
	}
	return event, nil
}

func authenticate(body []byte, header http.Header, secrets []string, keys [][]byte, now time.Time) *Error {
	refuse := func(reason, message string) *Error {
		return &Error{Code: CodeInvalidSignature, Message: message, Details: map[string]any{"reason": reason}}
	}
	signature, ok := headerValue(header, "X-Svc-Signature")
	if !ok {
		return refuse("missing", "the event has no X-Svc-Signature: was it posted by the service?")
	}
	next, _ := headerValue(header, "X-Svc-Signature-Next")
	matches := false
	for _, secret := range secrets {
		made := hex.EncodeToString(sign([]byte(secret), body))
		matches = matches || hmac.Equal([]byte(made), []byte(signature)) || hmac.Equal([]byte(made), []byte(next))
	}
	if !matches {
		return refuse("mismatch", "X-Svc-Signature does not match: verify the unmodified raw body with the secret of this domain")
	}
	timestamp, hasTime := headerValue(header, "webhook-timestamp")
	var seconds int64
	if hasTime {
		var err error
		seconds, err = strconv.ParseInt(timestamp, 10, 64)
		if err != nil || seconds < now.Unix()-attemptTolerance || seconds > now.Unix()+attemptTolerance {
			return refuse("timestamp", "webhook-timestamp is no number, or more than 5 minutes from this server's time")
		}
	}
	standard, ok := headerValue(header, "webhook-signature")
	if !ok {
		return nil
	}
	id, hasID := headerValue(header, "webhook-id")
	if !hasID || !hasTime {
		return refuse("mismatch", "the event has a webhook-signature without webhook-id and webhook-timestamp")
	}
	for _, key := range keys {
		made := sign(key, fmt.Appendf(nil, "%s.%d.", id, seconds), body)
		for _, entry := range strings.Split(standard, " ") {
			if encoded, ok := strings.CutPrefix(entry, "v1,"); ok {
				if tag, err := base64.StdEncoding.DecodeString(encoded); err == nil && hmac.Equal(tag, made) {
					return nil
				}
			}
		}
	}
	return refuse("mismatch", "webhook-signature does not match")
}

// standardKeys returns the keys of the secrets for Standard Webhooks. Error messages do not contain a secret.
func standardKeys(secrets []string) ([][]byte, error) {
	refuse := func(why string) ([][]byte, error) {
		return nil, &Error{Code: CodeInvalidSecret, Message: "a signing secret is whsec_ and base64, as the registration of the domain showed it: " + why}
	}
	if len(secrets) == 0 {
		return refuse("there is none")
	}
	var keys [][]byte
	for _, secret := range secrets {
		encoded, ok := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.Strict().DecodeString(encoded)
		switch {
		case strings.TrimSpace(secret) != secret:
			return refuse("the given secret begins or ends with a line end or a space; trim it")
		case !ok || err != nil || strings.ContainsAny(encoded, "\r\n") || len(key) < 24 || len(key) > 64:
			return refuse("the given secret has another format")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// headerValue finds a header in any case, because some frameworks do not normalize names in an http.Header.
func headerValue(header http.Header, name string) (string, bool) {
	if values := header.Values(name); len(values) > 0 {
		return values[0], true
	}
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}
