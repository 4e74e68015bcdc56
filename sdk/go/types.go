package signpost

import (
	"encoding/json"
	"time"
)

// Values of the enumerations of sessions. Values that are newer than this package are passed on unchanged.
const (
	ModeLogin    = "login"
	ModeRegister = "register"
	ModeLink     = "link"

	StatusPending       = "pending"
	StatusAuthenticated = "authenticated"
	StatusExpired       = "expired"
	StatusCancelled     = "cancelled"
)

// Nullable is a member of a change: unchanged (its zero value), set ([Value]) or removed ([Null]).
type Nullable[T any] struct {
	value *T
	given bool
}

// Value sets a member.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null removes a member.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// IsZero reports whether the member is unchanged.
func (n Nullable[T]) IsZero() bool { return !n.given }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// SessionParams are the parameters of a new session; only Domain is required.
type SessionParams struct {
	Domain string `json:"domain"`
	// Mode is login (the default), register or link.
	Mode string `json:"mode,omitempty"`
	// User is the user to add a key to, with Mode link, or the only user who can complete a login.
	User       string         `json:"user,omitempty"`
	WebhookURL string         `json:"webhook_url,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	// Confirm is code for number matching.
	Confirm string `json:"confirm,omitempty"`
	// Flow is cross_device (the default), same_device or page.
	Flow      string     `json:"flow,omitempty"`
	Requester *Requester `json:"requester,omitempty"`
	// BrowserHash is the SHA-256, in base64url, of a secret in a cookie of the browser; with Flow page.
	BrowserHash string `json:"browser_hash,omitempty"`
	// IdempotencyKey prevents a second creation. Default: a random key for each call, so that retries are safe.
	IdempotencyKey string `json:"-"`
}

// Requester is the browser that requested a login, shown by wallets.
type Requester struct {
	IP        string `json:"ip,omitempty"`
	Country   string `json:"country,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
}

// RefreshedSession is a session with a new code.
type RefreshedSession struct {
	ID        string    `json:"id"`
	DomainID  string    `json:"domain_id,omitempty"`
	Challenge string    `json:"challenge"`
	QRData    string    `json:"qr_data"`
	ExpiresAt time.Time `json:"expires_at"`
}

// CreatedSession is a new session, with members that are only in this reply.
type CreatedSession struct {
	RefreshedSession
	Status       string    `json:"status"`
	CreatedAt    time.Time `json:"created_at"`
	ClientSecret string    `json:"client_secret,omitempty"`
	// ConfirmCode is the number to show on the page, with Confirm code.
	ConfirmCode string `json:"confirm_code,omitempty"`
	// PageURL is the URL to redirect the browser to, with Flow page.
	PageURL  string         `json:"page_url,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Session is a login attempt. ExpiresAt is set while it is pending, AuthenticatedAt and User once it is authenticated.
type Session struct {
	ID              string       `json:"id"`
	DomainID        string       `json:"domain_id,omitempty"`
	Status          string       `json:"status"`
	Mode            string       `json:"mode,omitempty"`
	ExpiresAt       time.Time    `json:"expires_at,omitzero"`
	AuthenticatedAt time.Time    `json:"authenticated_at,omitzero"`
	User            *SessionUser `json:"user,omitempty"`
	// Method is scan, browser, lightning or passkey, at hosted domains.
	Method   string         `json:"method,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	// Redirect is the URL that the wallet opens, in the same-device flow.
	Redirect string `json:"redirect,omitempty"`
}

// SessionUser is the user or key that authenticated a session. ID is set only for hosted domains.
type SessionUser struct {
	ID         string `json:"id,omitempty"`
	PublicKey  string `json:"public_key"`
	DeviceInfo Device `json:"device_info"`
	// Set for completed sessions of hosted domains. Earlier versions of the service do not send them.
	Username   string         `json:"username,omitempty"`
	Name       string         `json:"name,omitempty"`
	Groups     []string       `json:"groups,omitempty"`
	ExternalID string         `json:"external_id,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	// CredentialCount is the number of the user's credentials.
	CredentialCount int  `json:"credential_count,omitempty"`
	IsNew           bool `json:"is_new,omitempty"`
}

// Device is a wallet's device, as reported by the wallet.
type Device struct {
	Platform string `json:"platform,omitempty"`
	Version  string `json:"version,omitempty"`
	DeviceID string `json:"device_id,omitempty"`
}

// ListedSession is a session in a list.
type ListedSession struct {
	Session
	Domain    string    `json:"domain"`
	CreatedAt time.Time `json:"created_at"`
}

// SessionList is a page of sessions.
type SessionList struct {
	Sessions []ListedSession `json:"sessions"`
	// NextCursor is the cursor of the next page; empty on the last page.
	NextCursor string `json:"next_cursor,omitempty"`
}

// Completion is the completion code and the browser's secret.
type Completion struct {
	Code          string `json:"code"`
	BrowserSecret string `json:"browser_secret,omitempty"`
}

// Answer is a wallet's answer.
type Answer struct {
	PublicKey string `json:"public_key"`
	Signature string `json:"signature"`
	Challenge string `json:"challenge"`
	// Timestamp is in Unix seconds.
	Timestamp   int64   `json:"timestamp"`
	DeviceInfo  *Device `json:"device_info,omitempty"`
	ConfirmCode string  `json:"confirm_code,omitempty"`
}

// SimulateParams select the simulated wallet, 1 to 100, and the fault of its answer: signature, timestamp, challenge or
// confirm_code.
type SimulateParams struct {
	Wallet int    `json:"wallet,omitempty"`
	Fault  string `json:"fault,omitempty"`
}

// Simulation is the request of the simulated wallet, its URL, and the response.
type Simulation struct {
	PublicKey string `json:"public_key"`
	PostedTo  string `json:"posted_to"`
	Payload   Answer `json:"payload"`
	Status    int    `json:"status,omitempty"`
	Body      string `json:"body,omitempty"`
	Error     string `json:"error,omitempty"`
}

// VerifyParams is a signature to check, in hex.
type VerifyParams struct {
	PublicKey string `json:"public_key"`
	Signature string `json:"signature"`
	Message   string `json:"message"`
}

// Verification is the result of a signature check.
type Verification struct {
	Valid       bool   `json:"valid"`
	PublicKey   string `json:"public_key"`
	MessageHash string `json:"message_hash"`
}

// DomainParams are the parameters of a new domain.
type DomainParams struct {
	Domain     string `json:"domain"`
	WebhookURL string `json:"webhook_url"`
	// Events are the kinds of events to send. The default are logins and registrations.
	Events []string `json:"events,omitempty"`
}

// DomainChange changes a domain. Members that are not set stay unchanged.
type DomainChange struct {
	WebhookURL   string           `json:"webhook_url,omitempty"`
	EventURL     Nullable[string] `json:"event_url,omitzero"`
	Handler      string           `json:"handler,omitempty"`
	Methods      []string         `json:"methods,omitempty"`
	Registration string           `json:"registration,omitempty"`
	DisplayName  Nullable[string] `json:"display_name,omitzero"`
	// Events are the kinds of events to send; null restores the default.
	Events Nullable[[]string] `json:"events,omitzero"`
}

// ListedDomain is a domain in a list.
type ListedDomain struct {
	ID         string    `json:"id"`
	Domain     string    `json:"domain"`
	Verified   bool      `json:"verified"`
	WebhookURL string    `json:"webhook_url"`
	CreatedAt  time.Time `json:"created_at"`
}

// DomainList is a page of domains.
type DomainList struct {
	Domains    []ListedDomain `json:"domains"`
	NextCursor string         `json:"next_cursor,omitempty"`
}

// Domain is a registered domain.
type Domain struct {
	ListedDomain
	VerificationToken string `json:"verification_token"`
	// Handler is direct or hosted.
	Handler string   `json:"handler"`
	Methods []string `json:"methods"`
	// Registration is open or closed.
	Registration  string    `json:"registration"`
	DisplayName   string    `json:"display_name,omitempty"`
	Events        []string  `json:"events"`
	EventURL      string    `json:"event_url,omitempty"`
	VerifiedAt    time.Time `json:"verified_at,omitzero"`
	LastCheckedAt time.Time `json:"last_checked_at,omitzero"`
	FailingSince  time.Time `json:"failing_since,omitzero"`
}

// RegisteredDomain is a new domain, with the webhook secret, which is only in this reply.
type RegisteredDomain struct {
	Domain
	WebhookSecret string `json:"webhook_secret"`
}

// ProvedDomain is a domain with a valid proof of ownership.
type ProvedDomain struct {
	ID         string    `json:"id"`
	Domain     string    `json:"domain"`
	Verified   bool      `json:"verified"`
	VerifiedAt time.Time `json:"verified_at"`
}

// UserChange changes a user of a hosted domain. Members that are not set stay unchanged.
type UserChange struct {
	// ExternalID requires a key with the scope manage if it replaces or removes one.
	ExternalID Nullable[string] `json:"external_id,omitzero"`
	// Username is the petname if it is removed. It requires a key with the scope manage.
	Username Nullable[string] `json:"username,omitzero"`
	// Email requires a key with the scope manage.
	Email  Nullable[string]   `json:"email,omitzero"`
	Name   Nullable[string]   `json:"name,omitzero"`
	Groups Nullable[[]string] `json:"groups,omitzero"`
	// Metadata replaces all earlier data.
	Metadata Nullable[map[string]any] `json:"metadata,omitzero"`
}

// HostedUser is a user of a hosted domain.
type HostedUser struct {
	ID string `json:"id"`
	// Petname is the generated name, which never changes.
	Petname string `json:"petname"`
	// Username is the username that you set, or else the petname.
	Username string `json:"username"`
	// ExternalID is the ID of the user in your own database.
	ExternalID string `json:"external_id,omitempty"`
	// Email is in lower case. The service does not verify it.
	Email       string         `json:"email,omitempty"`
	Name        string         `json:"name,omitempty"`
	Groups      []string       `json:"groups,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	CreatedAt   time.Time      `json:"created_at"`
	LastLoginAt time.Time      `json:"last_login_at,omitzero"`
	PublicKey   string         `json:"public_key,omitempty"`
	Credentials []Credential   `json:"credentials"`
}

// UserList is a page of users.
type UserList struct {
	Users      []HostedUser `json:"users"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// Credential is a key of a user. Kind is wallet, lightning or passkey.
type Credential struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"`
	PublicKey  string    `json:"public_key"`
	Name       string    `json:"name"`
	AddedAt    time.Time `json:"added_at"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
}

// Delivery is an event for a URL. State is pending, delivered or failed.
type Delivery struct {
	ID                 string    `json:"id"`
	DomainID           string    `json:"domain_id"`
	URL                string    `json:"url"`
	State              string    `json:"state"`
	Attempts           int       `json:"attempts"`
	CreatedAt          time.Time `json:"created_at"`
	NextAttemptAt      time.Time `json:"next_attempt_at"`
	EndedAt            time.Time `json:"ended_at,omitzero"`
	LastStatus         int       `json:"last_status,omitempty"`
	LastError          string    `json:"last_error,omitempty"`
	LastAnswer         string    `json:"last_answer,omitempty"`
	EndpointDisabledAt time.Time `json:"endpoint_disabled_at,omitzero"`
	// Body is set only in the reply for a single delivery.
	Body *Event `json:"body,omitempty"`
}

// DeliveryList is a page of deliveries.
type DeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// Retried is the number of deliveries that are retried.
type Retried struct {
	Retried int `json:"retried"`
}
