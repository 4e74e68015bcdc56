// A site whose people log in on Signpost's page.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"

	"signpost"
)

var people sync.Map // Who is logged in, by cookie; a real site has this in its database, and lets it end.

func main() {
	port := cmp.Or(os.Getenv("PORT"), "9001")
	site := cmp.Or(os.Getenv("SITE"), "http://localhost:"+port)
	client := signpost.New(os.Getenv("KEY"), signpost.WithBaseURL(cmp.Or(os.Getenv("API"), signpost.DefaultBaseURL)))
	http.Handle("/signpost/", signpost.NewLogin(client, signpost.LoginOptions{
		Domain:         cmp.Or(os.Getenv("DOMAIN"), "localhost"),
		Site:           site,
		CookieSecret:   cmp.Or(os.Getenv("COOKIE_SECRET"), rand.Text()+rand.Text()),
		WebhookSecrets: strings.Fields(os.Getenv("WEBHOOK_SECRET")),
		CurrentUser:    currentUser,
		SignIn: func(w http.ResponseWriter, _ *http.Request, login signpost.Login) error {
			cookie := http.Cookie{Name: "site_login", Value: rand.Text(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
			cookie.Secure = strings.HasPrefix(site, "https:")
			people.Store(cookie.Value, login.User) // Never the value from before the login.
			http.SetCookie(w, &cookie)
			return nil
		},
		OnEvent: func(_ context.Context, event *signpost.Event) error {
			log.Println(event.Event, event.Data.UserID)
			return nil
		},
	}))
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if user := currentUser(r); user != "" {
			fmt.Fprintf(w, `<!doctype html>You are <b id="user">%s</b>. <a href="/signpost/link">Add a key</a>`, user)
		} else {
			fmt.Fprint(w, `<!doctype html><a href="/signpost/login">Log in</a>`)
		}
	})
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}

func currentUser(r *http.Request) (user string) {
	if cookie, err := r.Cookie("site_login"); err == nil {
		value, _ := people.Load(cookie.Value)
		user, _ = value.(string)
	}
	return user
}
