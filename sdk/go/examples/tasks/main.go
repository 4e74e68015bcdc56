// Command tasks contains the tasks of sdk/README.md, so that they are compiled.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"signpost"
)

var people sync.Map // Users by cookie; a real site uses its database, with an expiry.

// Over https, no other host can set this cookie.
var loginCookie = signpost.NewSiteCookie("http://localhost:9001", "login", 24*time.Hour)

// startLogin returns a new value for the site's login cookie, never the value from before the login.
func startLogin(user string) string {
	value := rand.Text()
	people.Store(value, user)
	return value
}

// findLogin returns the user of the site's cookie.
func findLogin(r *http.Request) (user string) {
	value, _ := people.Load(loginCookie.Value(r))
	user, _ = value.(string)
	return user
}

func main() {
	client := signpost.New(os.Getenv("KEY"), signpost.WithBaseURL("http://localhost:8080/sandbox/v1"))

	logins := signpost.NewLogin(client, signpost.LoginOptions{
		Domain:         "localhost",
		Site:           "http://localhost:9001",
		CookieSecret:   os.Getenv("COOKIE_SECRET"), // 32 characters or more, identical on all servers of the site
		WebhookSecrets: []string{os.Getenv("WEBHOOK_SECRET")},
		SignIn: func(w http.ResponseWriter, r *http.Request, login signpost.Login) error {
			loginCookie.Set(w, startLogin(login.User.ID))
			return nil
		},
		CurrentUser: func(r *http.Request) string { return findLogin(r) },
		OnEvent: func(ctx context.Context, event *signpost.Event) error {
			log.Println(event.Event, event.SessionID)
			return nil
		},
	})
	http.Handle("/signpost/", logins)

	if err := errors.Join(showCode(context.Background(), client), listUsers(context.Background(), client), findATMs(context.Background(), client)); err != nil {
		handleErrors(context.Background(), client)
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:9001", nil))
}

// HasOneKey reports whether a user has a single key, whose loss would lock the user out.
func HasOneKey(ctx context.Context, client *signpost.Client, domainID, user string) error {
	who, err := client.Users.Get(ctx, domainID, user)
	if err != nil {
		return err
	}
	hasOneKey := len(who.Credentials) == 1
	fmt.Println(hasOneKey)
	return nil
}

// ReceiveEvent verifies an event at an endpoint of the site.
func ReceiveEvent(r *http.Request, secrets []string) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1<<16))
	if err != nil {
		return err
	}
	event, err := signpost.VerifyWebhook(body, r.Header, secrets...)
	if err != nil {
		return err
	}
	fmt.Println(event.ID)
	return nil
}

func showCode(ctx context.Context, client *signpost.Client) error {
	session, err := client.Sessions.Create(ctx, signpost.SessionParams{Domain: "localhost", Confirm: "code"})
	if err != nil {
		return err
	}
	answered, err := client.Sessions.Wait(ctx, session.ID, signpost.WaitAtMost(2*time.Minute))
	if err != nil {
		return err
	}
	if answered.Status == signpost.StatusAuthenticated {
		fmt.Println(answered.User.ID)
	}
	return nil
}

func listUsers(ctx context.Context, client *signpost.Client) error {
	for domain, err := range client.Domains.All(ctx) {
		if err != nil {
			return err
		}
		for user, err := range client.Users.All(ctx, domain.ID) {
			if err != nil {
				return err
			}
			fmt.Println(domain.Domain, user.Petname, user.LastLoginAt)
		}
	}
	return nil
}

func handleErrors(ctx context.Context, client *signpost.Client) {
	_, err := client.Sessions.Create(ctx, signpost.SessionParams{Domain: "shop.exmaple"})
	var refused *signpost.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Status, refused.Details, refused.RequestID) // domain_not_registered 422 …
	}
}

func findATMs(ctx context.Context, client *signpost.Client) error {
	found, err := client.ATMs.Nearest(ctx, signpost.NearestParams{Location: "Miami, FL", Limit: 3})
	if err != nil {
		return err
	}
	for _, atm := range found.ATMs {
		fmt.Println(atm.Distance, atm.Name, atm.Status, atm.Address)
	}
	for _, advisory := range found.Advisories {
		fmt.Println(advisory.Text)
	}
	fmt.Println(found.Notice, client.ATMs.MCPURL())
	return nil
}
