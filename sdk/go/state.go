package signpost

import (
	"cmp"
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// Maximum pending logins per browser.
	maxStates = 3
	// The mode of the login of a known user before a link. For the service, it is a login.
	modeConfirm = "confirm"
)

// state is a pending login.
type state struct {
	// Completes the session; the service has only its hash.
	secret  string
	expires int64
	mode    string
	next    string
	user    string // The user of link and confirm; empty for other modes.
}

// states are the pending logins of a browser: signed cookies, one per session, so that logins in two tabs do not collide.
type states struct {
	site *site
	// A function, so that a printed handler does not contain the secret.
	sign func(text string) string
}

func newStates(s *site, secret string) states {
	return states{s, func(text string) string { return encode(sign([]byte(secret), []byte(text))) }}
}

func (s *states) mac(id, text string) string { return s.sign("signpost-state:" + id + ":" + text) }

// setState returns the Set-Cookie value of a new state.
func (s *states) setState(id string, began state) string {
	expires := strconv.FormatInt(s.site.now().Unix()+cookieMaxAge, 10)
	text := "v1." + began.secret + "." + expires + "." + began.mode + "." + encode([]byte(began.next))
	if began.user != "" {
		text += "." + encode([]byte(began.user))
	}
	return s.site.cookie(s.site.cookieName("signpost", id), text+"."+s.mac(id, text), strconv.Itoa(cookieMaxAge))
}

// takeState returns the state of a session, if it is valid, and marks it as cleared.
func (s *states) takeState(v *visit, id string) (began state, isValid bool) {
	name := s.site.cookieName("signpost", id)
	cookies := v.r.CookiesNamed(name)
	if len(cookies) == 0 {
		return state{}, false
	}
	v.cleared = []string{s.clear(name)}
	for _, cookie := range cookies { // Another site of the domain may have set more.
		if began, isValid := s.readState(id, cookie.Value); isValid {
			return began, true
		}
	}
	return state{}, false
}

// clearAll returns the Set-Cookie values that delete all states.
func (s *states) clearAll(r *http.Request) []string {
	var cleared []string
	for _, cookie := range s.all(r) {
		if deletion := s.clear(cookie.Name); !slices.Contains(cleared, deletion) {
			cleared = append(cleared, deletion)
		}
	}
	return cleared
}

// clearOld returns the Set-Cookie values that delete all but the newest states, to limit the size of the Cookie header.
func (s *states) clearOld(r *http.Request) []string {
	all := s.all(r)
	newest := slices.Clone(all)
	slices.SortStableFunc(newest, func(a, b *http.Cookie) int { return cmp.Compare(expiry(b.Value), expiry(a.Value)) })
	newest = newest[:min(len(newest), maxStates-1)]
	var cleared []string
	for _, cookie := range all {
		if !slices.Contains(newest, cookie) {
			cleared = append(cleared, s.clear(cookie.Name))
		}
	}
	return cleared
}

var isStateID = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (s *states) all(r *http.Request) []*http.Cookie {
	prefix := s.site.prefixed("signpost-")
	return slices.DeleteFunc(r.Cookies(), func(cookie *http.Cookie) bool {
		id, isOurs := strings.CutPrefix(cookie.Name, prefix)
		return !isOurs || !isStateID.MatchString(id)
	})
}

func (s *states) clear(name string) string { return s.site.cookie(name, "", "0") }

var isTime = regexp.MustCompile(`^[0-9]{1,12}$`)

// expiry returns the expiry of a state in Unix seconds; 0 if it is malformed.
func expiry(value string) int64 {
	parts := strings.Split(value, ".")
	if len(parts) < 6 || len(parts) > 7 || !isTime.MatchString(parts[2]) {
		return 0
	}
	expires, _ := strconv.ParseInt(parts[2], 10, 64)
	return expires
}

func (s *states) readState(id, value string) (state, bool) {
	parts := strings.Split(value, ".")
	at := strings.LastIndexByte(value, '.')
	if len(parts) < 6 || len(parts) > 7 || parts[0] != "v1" || !hmac.Equal([]byte(s.mac(id, value[:at])), []byte(value[at+1:])) {
		return state{}, false
	}
	next, err := base64.RawURLEncoding.DecodeString(parts[4])
	if err != nil {
		return state{}, false
	}
	began := state{secret: parts[1], expires: expiry(value), mode: parts[3], next: localNext(string(next))}
	if len(parts) == 7 {
		user, err := base64.RawURLEncoding.DecodeString(parts[5])
		if err != nil {
			return state{}, false
		}
		began.user = string(user)
	}
	belongsToUser := began.mode == ModeLink || began.mode == modeConfirm
	return began, began.expires > s.site.now().Unix() && belongsToUser == (began.user != "")
}
