package signpost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// Timeout of each call of the check.
	startupTimeout = 5 * time.Second
	// Timeout of the whole check.
	startupLimit = 30 * time.Second
)

// checkSettings checks the key, the base URL and the domain with the service, and logs a fault.
func checkSettings(client *Client, domain string, log func(line string)) {
	ctx, cancel := context.WithTimeout(context.Background(), startupLimit)
	defer cancel()
	if fault := findFault(ctx, client.withoutRetries(startupTimeout), domain); fault != "" {
		log("signpost: logins will fail: " + fault)
	}
}

// findFault returns a sentence about the first fault, with its remedy, or "".
func findFault(ctx context.Context, client *Client, domain string) string {
	handler, err := findHandler(ctx, client, domain)
	var failure *Error
	switch {
	case errors.As(err, &failure):
		return describeFault(failure, client.base)
	case err != nil:
		return err.Error()
	case handler == "":
		return fmt.Sprintf("the domain %s is not registered with this API key: run signpost domains add %[1]s --handler hosted", domain)
	case handler == "direct":
		return fmt.Sprintf("the domain %s has the handler direct, and the login page requires the handler hosted", domain)
	}
	return ""
}

// findHandler returns the handler of a domain of this account; "" if there is no such domain.
func findHandler(ctx context.Context, client *Client, domain string) (string, error) {
	found, err := client.Domains.Get(ctx, domain)
	if err == nil {
		return found.Handler, nil
	}
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != CodeDomainNotFound {
		return "", err
	}
	// Earlier versions of the service find a domain only by its ID.
	for listed, err := range client.Domains.All(ctx) {
		if err != nil {
			return "", err
		}
		if listed.Domain != domain {
			continue
		}
		found, err := client.Domains.Get(ctx, listed.ID)
		if err != nil {
			return "", err
		}
		return found.Handler, nil
	}
	return "", nil
}

func describeFault(err *Error, base string) string {
	switch {
	case err.Code == CodeInvalidAPIKey:
		return fmt.Sprintf("%s rejects the API key: check its value, and whether it belongs to the environment of the base URL (%v)", base, err)
	case err.Code == CodeInsufficientScope:
		return fmt.Sprintf("the API key has no scope auth: create one with signpost keys create --scope auth (%v)", err)
	case err.Code == CodeConnectionFailed || err.Code == CodeTimeout:
		return fmt.Sprintf("the service cannot be reached at the base URL %s (%v)", base, err)
	case err.Code == CodeInvalidArgument:
		return fmt.Sprintf("the client has an invalid option (%v)", err)
	case err.Code == CodeInvalidResponse || err.Status == http.StatusNotFound:
		return fmt.Sprintf("the base URL %s is not that of a Signpost server; it ends in /v1 or /sandbox/v1 (%v)", base, err)
	}
	return fmt.Sprintf("the service at %s replied with %s (%v)", base, err.Code, err)
}
