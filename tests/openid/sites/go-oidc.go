// A site with Debian's go-oidc. It prints its address, reads its client, and serves.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

type registered struct {
	Issuer       string `json:"issuer"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// site stores a login for each state, and a user for each cookie.
type site struct {
	origin     string
	provider   *oidc.Provider
	verifier   *oidc.IDTokenVerifier
	oauth      oauth2.Config
	endSession string

	mutex sync.Mutex
	begun map[string]begun
	users map[string]*user
}

type begun struct{ nonce, verifier, spoil string }

type user struct {
	claims  map[string]interface{}
	token   *oauth2.Token
	idToken string
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	origin := "http://" + listener.Addr().String()
	fmt.Printf("{\"origin\":%q}\n", origin)
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	check(err)
	var client registered
	check(json.Unmarshal(line, &client))
	site, err := open(client, origin)
	check(err)
	fmt.Println("ready")
	go func() {
		// The parent process has ended.
		_, _ = io.Copy(io.Discard, input)
		os.Exit(0)
	}()
	check(http.Serve(listener, site.routes()))
}

func open(client registered, origin string) (*site, error) {
	provider, err := oidc.NewProvider(context.Background(), client.Issuer)
	if err != nil {
		return nil, err
	}
	var document struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, err
	}
	oauth := oauth2.Config{
		ClientID:     client.ClientID,
		ClientSecret: client.ClientSecret,
		Endpoint:     provider.Endpoint(),
		RedirectURL:  origin + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: client.ClientID})
	return &site{
		origin: origin, provider: provider, verifier: verifier, oauth: oauth, endSession: document.EndSession,
		begun: map[string]begun{}, users: map[string]*user{},
	}, nil
}

func (site *site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/login", site.login)
	for path, route := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/callback": site.callback, "/refresh": site.refresh, "/logout": site.logout, "/": site.home,
	} {
		mux.HandleFunc(path, func(writer http.ResponseWriter, request *http.Request) {
			if err := route(writer, request); err != nil {
				http.Error(writer, err.Error(), http.StatusBadRequest)
			}
		})
	}
	return mux
}

func (site *site) login(writer http.ResponseWriter, request *http.Request) {
	state, asked := random(), begun{nonce: random(), verifier: random(), spoil: request.URL.Query().Get("spoil")}
	address := site.oauth.AuthCodeURL(state, oidc.Nonce(asked.nonce),
		oauth2.SetAuthURLParam("code_challenge", challenge(asked.verifier)),
		oauth2.SetAuthURLParam("code_challenge_method", "S256"))
	site.mutex.Lock()
	site.begun[state] = asked
	site.mutex.Unlock()
	http.SetCookie(writer, &http.Cookie{Name: "state", Value: state, Path: "/"})
	http.Redirect(writer, request, address, http.StatusSeeOther)
}

func (site *site) callback(writer http.ResponseWriter, request *http.Request) error {
	query := request.URL.Query()
	if reason := query.Get("error"); reason != "" {
		return errors.New(reason)
	}
	state := query.Get("state")
	cookie, err := request.Cookie("state")
	site.mutex.Lock()
	asked, ok := site.begun[state]
	delete(site.begun, state)
	site.mutex.Unlock()
	if err != nil || !ok || cookie.Value != state {
		return errors.New("another state")
	}
	user, err := site.exchange(request.Context(), query.Get("code"), asked)
	if err != nil {
		return err
	}
	id := random()
	site.mutex.Lock()
	site.users[id] = user
	site.mutex.Unlock()
	http.SetCookie(writer, &http.Cookie{Name: "site", Value: id, Path: "/"})
	http.Redirect(writer, request, "/", http.StatusSeeOther)
	return nil
}

func (site *site) exchange(ctx context.Context, code string, asked begun) (*user, error) {
	token, err := site.oauth.Exchange(ctx, code, oauth2.SetAuthURLParam("code_verifier", asked.verifier))
	if err != nil {
		return nil, err
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := site.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if idToken.Nonce != asked.nonce || asked.spoil == "nonce" {
		return nil, errors.New("another nonce")
	}
	accessToken := token.AccessToken
	if asked.spoil == "at_hash" {
		accessToken = "another"
	}
	if err := idToken.VerifyAccessToken(accessToken); err != nil {
		return nil, err
	}
	claims, userinfo := map[string]interface{}{}, map[string]interface{}{}
	if err := idToken.Claims(&claims); err != nil {
		return nil, err
	}
	info, err := site.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, err
	}
	if err := info.Claims(&userinfo); err != nil {
		return nil, err
	}
	claims["userinfo"] = userinfo
	return &user{claims: claims, token: token, idToken: raw}, nil
}

// userOf returns the user of a cookie.
func (site *site) userOf(request *http.Request) *user {
	cookie, err := request.Cookie("site")
	if err != nil {
		return nil
	}
	site.mutex.Lock()
	defer site.mutex.Unlock()
	return site.users[cookie.Value]
}

func (site *site) home(writer http.ResponseWriter, request *http.Request) error {
	user := site.userOf(request)
	if user == nil {
		http.Error(writer, "nobody", http.StatusUnauthorized)
		return nil
	}
	return json.NewEncoder(writer).Encode(user.claims)
}

func (site *site) refresh(writer http.ResponseWriter, request *http.Request) error {
	user := site.userOf(request)
	if user == nil {
		return errors.New("nobody")
	}
	before := user.token
	after, err := site.oauth.TokenSource(request.Context(), &oauth2.Token{RefreshToken: before.RefreshToken}).Token()
	if err != nil {
		return err
	}
	user.token = after
	info, err := site.provider.UserInfo(request.Context(), oauth2.StaticTokenSource(after))
	if err != nil {
		return err
	}
	rotated := after.RefreshToken != before.RefreshToken && after.AccessToken != before.AccessToken
	return json.NewEncoder(writer).Encode(map[string]interface{}{"sub": info.Subject, "rotated": rotated})
}

func (site *site) logout(writer http.ResponseWriter, request *http.Request) error {
	user := site.userOf(request)
	if user == nil {
		return errors.New("nobody")
	}
	http.SetCookie(writer, &http.Cookie{Name: "site", Path: "/", MaxAge: -1})
	query := url.Values{"id_token_hint": {user.idToken}, "post_logout_redirect_uri": {site.origin + "/"}, "state": {"bye"}}
	http.Redirect(writer, request, site.endSession+"?"+query.Encode(), http.StatusSeeOther)
	return nil
}

func random() string {
	bytes := make([]byte, 32)
	_, err := rand.Read(bytes)
	check(err)
	return hex.EncodeToString(bytes)
}

// challenge returns the S256 challenge for a verifier; the library is older than PKCE.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
