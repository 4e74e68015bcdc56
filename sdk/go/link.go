package signpost

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// link starts to add a key to the account of the logged-in user.
func (h *LoginHandler) link(v *visit) error {
	if h.currentUser == nil {
		writeError(v.w, http.StatusNotFound, "keys cannot be added here: the handler has no CurrentUser")
		return nil
	}
	user := h.user(v.r)
	if user == "" {
		h.logInBeforeLink(v)
		return nil
	}
	isConfirmed, err := h.hasCredential(v.r.Context(), user)
	if err != nil {
		return err
	}
	if !isConfirmed && (h.confirmRecent == nil || !h.confirmRecent(v.r)) {
		h.fail(v, LoginErrorRefused)
		return nil
	}
	err = h.open(v, ModeLink, user)
	var failure *Error
	if errors.As(err, &failure) && failure.Code == CodeRecentLoginRequired {
		return h.open(v, modeConfirm, user)
	}
	return err
}

// logInBeforeLink redirects to the login, which continues at the link.
func (h *LoginHandler) logInBeforeLink(v *visit) {
	link := h.path + "/link"
	if v.next != "/" {
		link += "?next=" + escapeQuery(v.next)
	}
	v.redirect(h.path + "/login?next=" + escapeQuery(link))
}

// hasCredential reports whether the user has a key, so that the service itself requires a recent login.
func (h *LoginHandler) hasCredential(ctx context.Context, user string) (bool, error) {
	found, err := h.client.Users.Get(ctx, h.domain, user)
	var failure *Error
	if errors.As(err, &failure) && failure.Status == http.StatusNotFound && failure.Code != CodeUserNotFound {
		// Earlier versions of the service find a domain only by its ID; they have no users without keys.
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return len(found.Credentials) > 0, nil
}

// loginErrorOf returns the reason that the user is shown for an error of the service.
func loginErrorOf(err *Error) string {
	switch {
	case err.Code == CodeInvalidResponse:
		return LoginErrorUnavailable
	case err.Code == CodeSessionExpired:
		return LoginErrorExpired
	case err.Status == http.StatusNotAcceptable && err.reason() == "browser":
		return LoginErrorOtherBrowser
	case slices.Contains([]int{http.StatusNotAcceptable, http.StatusConflict, http.StatusGone}, err.Status):
		return LoginErrorRefused
	case slices.Contains([]ErrorCode{CodeSessionNotFound, CodeUserNotFound, CodeRecentLoginRequired}, err.Code):
		return LoginErrorRefused
	}
	return LoginErrorUnavailable
}

// pageError returns the reason for an error of the login page.
func pageError(text string) string {
	if text == LoginErrorAccessDenied || text == LoginErrorExpired {
		return text
	}
	return LoginErrorRefused
}

// hasCompleted reports whether the service completed the session of this state, for its user.
func hasCompleted(session *Session, id string, began state) bool {
	if session.ID != id || session.Status != StatusAuthenticated || session.User == nil || session.User.ID == "" {
		return false
	}
	if began.user != "" && session.User.ID != began.user {
		return false
	}
	if began.mode == modeConfirm {
		return cmp.Or(session.Mode, ModeLogin) == ModeLogin
	}
	return (cmp.Or(session.Mode, began.mode) == ModeLink) == (began.mode == ModeLink)
}

func newLogin(session *Session, began state) Login {
	mode := ModeLogin
	if cmp.Or(session.Mode, began.mode) == ModeRegister {
		mode = ModeRegister
	}
	given := session.User
	user := LoginUser{
		ID: given.ID, Username: given.Username, Name: given.Name, Groups: given.Groups, ExternalID: given.ExternalID,
		Metadata: given.Metadata, IsNew: given.IsNew,
	}
	return Login{User: user, Method: session.Method, Mode: mode, Next: began.next, Session: session}
}

// once returns the value of a parameter that occurs once, or "".
func once(query url.Values, name string) string {
	if values := query[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// escapeQuery escapes the value of a query parameter: all but letters, digits and -._~.
func escapeQuery(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
