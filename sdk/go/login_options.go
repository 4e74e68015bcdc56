package signpost

import (
	"context"
	"net/http"
)

// Reasons of a failed login, in the parameter login_error of FailedPath.
const (
	LoginErrorAccessDenied = "access_denied"
	LoginErrorExpired      = "expired"
	LoginErrorOtherBrowser = "other_browser"
	LoginErrorRefused      = "refused"
	LoginErrorUnavailable  = "unavailable"
)

// Steps of the handlers, for OnError. StepStart is /login and /register, StepWallet all paths of [WalletHandler] but /events.
const (
	StepStart  = "start"
	StepLink   = "link"
	StepReturn = "return"
	StepLogout = "logout"
	StepEvents = "events"
	StepWallet = "wallet"
)

// LoginOptions are the options of [NewLogin]. Domain, Site, CookieSecret and SignIn are required.
type LoginOptions struct {
	// Domain is the hosted domain that users log in to.
	Domain string
	// Site is the site's public origin, such as https://shop.example.
	Site string
	// Path is the path of the handler. Default: /signpost. / is the root.
	Path string
	// CookieSecret signs the state of a login; at least 32 characters, identical in all processes of the site.
	CookieSecret string
	// WebhookSecrets verify events: a secret, or two during a rotation. Without a secret, <path>/events responds with 404.
	WebhookSecrets []string
	// SignIn sets the site's own login cookie on w, with a new value. The handler writes the response.
	SignIn func(w http.ResponseWriter, r *http.Request, login Login) error
	// SignOut ends the site's login. With it, <path>/logout logs the browser out. The handler writes the response.
	SignOut func(w http.ResponseWriter, r *http.Request) error
	// OnEvent processes an event. After an error the event is delivered again; after success SeenEvents prevents a repetition.
	OnEvent func(ctx context.Context, event *Event) error
	// CurrentUser returns the ID (usr_…) of the logged-in user, or "". With it, <path>/link adds a key to the account. It is
	// called again when the browser returns: a link completes only if its user is still logged in.
	CurrentUser func(r *http.Request) string
	// ConfirmRecent reports whether the logged-in user proved a moment ago to be this user, such as by the password. It
	// permits to add the first key to an account without keys; without this function, that is refused.
	ConfirmRecent func(r *http.Request) bool
	// FailedPath is the target after a failed login, with login_error and next in the query. It needs no login, and is not
	// below Path. Default: /.
	FailedPath string
	// SeenEvents records processed events. Default: the memory of this process, for the last 10,000 events.
	SeenEvents SeenEvents
	// OnError receives the errors of the service, which are an *[Error] with its Code and RequestID, and the errors of
	// OnEvent, SignIn and SignOut, with the step. Default: they are logged with [log/slog].
	OnError func(err error, step string)
	// SkipStartupCheck turns off the check of the key, the base URL and the domain, which runs in the background and logs
	// faults with [log/slog].
	SkipStartupCheck bool
}

// LoginUser is the user of a completed login. Members that the service does not know are empty.
type LoginUser struct {
	// ID does not depend on the key that was used: it is the only member that identifies an account forever. It is usr_… from
	// the service's page, and your own ID from [NewWallet].
	ID       string   `json:"id"`
	Username string   `json:"username,omitempty"`
	Name     string   `json:"name,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	// ExternalID is the ID of the user in your own database, if you set it.
	ExternalID string         `json:"external_id,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	// IsNew is set if the service reported that this login created the user.
	IsNew bool `json:"is_new,omitempty"`
}

// Login is a completed login.
type Login struct {
	User LoginUser
	// Method is the kind of proof: scan, browser, lightning or passkey; later versions may add others. [NewWallet] sets none.
	Method string
	// Mode is login, or register for a new account.
	Mode string
	// Next is the path of the site to continue at.
	Next string
	// Session is the authenticated session.
	Session *Session
}
