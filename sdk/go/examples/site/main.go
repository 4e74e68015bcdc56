// A site that uses Signpost's login page.
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
	"time"

	"signpost"
)

var people sync.Map // Users by cookie; a real site uses its database, with an expiry.

func main() {
	port := cmp.Or(os.Getenv("PORT"), "9001")
	site := cmp.Or(os.Getenv("SITE"), "http://localhost:"+port)
	cookie := signpost.NewSiteCookie(site, "site_login", 24*time.Hour) // Over https, no other host can set it.
	currentUser := func(r *http.Request) string {
		user, _ := people.Load(cookie.Value(r))
		text, _ := user.(string)
		return text
	}
	client := signpost.New(os.Getenv("KEY"), signpost.WithBaseURL(cmp.Or(os.Getenv("API"), signpost.DefaultBaseURL)))
	http.Handle("/signpost/", signpost.NewLogin(client, signpost.LoginOptions{
		Domain:         cmp.Or(os.Getenv("DOMAIN"), "localhost"),
		Site:           site,
		CookieSecret:   cmp.Or(os.Getenv("COOKIE_SECRET"), rand.Text()+rand.Text()),
		WebhookSecrets: strings.Fields(os.Getenv("WEBHOOK_SECRET")),
		CurrentUser:    currentUser,
		SignOut: func(w http.ResponseWriter, r *http.Request) error {
			people.Delete(cookie.Value(r))
			cookie.Clear(w)
			return nil
		},
		SignIn: func(w http.ResponseWriter, _ *http.Request, login signpost.Login) error {
			value := rand.Text() // A new value, never the value from before the login.
			people.Store(value, login.User.ID)
			cookie.Set(w, value)
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
			fmt.Fprintf(w, `<!doctype html>You are <b id="user">%s</b>. <a href="/signpost/link">Add a key</a> <a href="/signpost/logout">Log out</a>`, user)
		} else {
			fmt.Fprint(w, `<!doctype html><a href="/signpost/login">Log in</a>`)
		}
	})
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}
