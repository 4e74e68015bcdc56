// A site that receives wallets' answers itself. Its users are the registered keys.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"html"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"signpost"
)

var users, people sync.Map // Registered and logged-in users; a real site uses a database.

const page = `<!doctype html><title>Log in</title><a id="link" data-sid="%[1]s" href="%[2]s">%[2]s</a> <a href="/register">Register</a>
<script>setInterval(async () => { const poll = await fetch('/signpost/poll?sid=%[1]s'); const { redirect } = await poll.json();
if (redirect) location = redirect }, 1000)</script>`

func main() {
	port := cmp.Or(os.Getenv("PORT"), "9001")
	site := cmp.Or(os.Getenv("SITE"), "http://localhost:"+port)
	cookie := signpost.NewSiteCookie(site, "site_login", 24*time.Hour) // Over https, no other host can set it.
	client := signpost.New(os.Getenv("KEY"), signpost.WithBaseURL(cmp.Or(os.Getenv("API"), signpost.DefaultBaseURL)))
	wallet := signpost.NewWallet(client, signpost.WalletOptions{
		Domain: cmp.Or(os.Getenv("DOMAIN"), "localhost"), Site: site, WebhookSecrets: strings.Fields(os.Getenv("WEBHOOK_SECRET")),
		FindUser: func(_ context.Context, publicKey string) (string, error) { return load(&users, publicKey), nil },
		CreateUser: func(_ context.Context, publicKey string, _ signpost.Device) (string, error) {
			users.Store(publicKey, publicKey)
			return publicKey, nil
		},
		SignIn: func(w http.ResponseWriter, _ *http.Request, login signpost.Login) error {
			value := rand.Text() // A new value, never the value from before the login.
			people.Store(value, login.User.ID)
			cookie.Set(w, value)
			return nil
		},
	})
	http.Handle("/signpost/", wallet)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if value := cookie.Value(r); value != "" && r.URL.Path == "/account" {
			fmt.Fprintf(w, `<!doctype html>You are <b id="user">%s</b>.`, load(&people, value))
		} else if code, err := wallet.ShowCode(w, r, cmp.Or(r.URL.Path[1:], "login"), "/account"); err == nil {
			fmt.Fprintf(w, page, code.SID, html.EscapeString(code.QRData))
		} else {
			http.Error(w, "the login service returned no code; reload the page", http.StatusBadGateway)
		}
	})
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}

func load(from *sync.Map, key string) string {
	value, _ := from.Load(key)
	return fmt.Sprint(cmp.Or(value, any("")))
}
