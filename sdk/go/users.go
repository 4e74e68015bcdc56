package signpost

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Users are the users of hosted domains. A user is identified by ID or by any of the user's public keys.
type Users struct{ c *Client }

// Create creates a user without keys, who gets the first key through a link. Retries are safe: they share an idempotency key.
func (u *Users) Create(ctx context.Context, domainID string, params UserParams) (*HostedUser, error) {
	key := params.IdempotencyKey
	if key == "" {
		key = newUUID()
	}
	k := call{method: http.MethodPost, body: params, idempotencyKey: key, repeatable: true}
	return to[HostedUser](ctx, u.c, k, "/domains/{}/users", domainID)
}

// List returns a page of users, oldest first.
func (u *Users) List(ctx context.Context, domainID string, params ListParams) (*UserList, error) {
	return to[UserList](ctx, u.c, call{method: http.MethodGet, query: params.query(), repeatable: true}, "/domains/{}/users", domainID)
}

// Search returns a page of the users that match, oldest first. A page may be empty although there is a next page.
func (u *Users) Search(ctx context.Context, domainID string, search UserSearch) (*UserList, error) {
	query := search.query("external_id", search.ExternalID, "username", search.Username, "q", search.Query)
	return to[UserList](ctx, u.c, call{method: http.MethodGet, query: query, repeatable: true}, "/domains/{}/users", domainID)
}

// All iterates over all users of a domain, oldest first.
func (u *Users) All(ctx context.Context, domainID string) iter.Seq2[HostedUser, error] {
	return pages(ListParams{}, func(page ListParams) ([]HostedUser, string, error) {
		list, err := u.List(ctx, domainID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Users, list.NextCursor, nil
	})
}

// Get returns a user.
func (u *Users) Get(ctx context.Context, domainID, user string) (*HostedUser, error) {
	return to[HostedUser](ctx, u.c, call{method: http.MethodGet, repeatable: true}, "/domains/{}/users/{}", domainID, user)
}

// Update changes a user.
func (u *Users) Update(ctx context.Context, domainID, user string, change UserChange) (*HostedUser, error) {
	return to[HostedUser](ctx, u.c, call{method: http.MethodPatch, body: change, repeatable: true}, "/domains/{}/users/{}", domainID, user)
}

// Delete deletes a user and all of its credentials.
func (u *Users) Delete(ctx context.Context, domainID, user string) error {
	return remove(ctx, u.c, "/domains/{}/users/{}", domainID, user)
}

// DeleteAll deletes all users of a domain.
func (u *Users) DeleteAll(ctx context.Context, domainID string) error {
	return remove(ctx, u.c, "/domains/{}/users", domainID)
}

// DeleteCredential deletes a credential of a user, by its ID or its key.
func (u *Users) DeleteCredential(ctx context.Context, domainID, user, credential string) error {
	return remove(ctx, u.c, "/domains/{}/users/{}/credentials/{}", domainID, user, credential)
}

// SignIns returns a page of the browsers and applications where the user is signed in.
func (u *Users) SignIns(ctx context.Context, domainID, user string, params ListParams) (*SignInList, error) {
	k := call{method: http.MethodGet, query: params.query(), repeatable: true}
	return to[SignInList](ctx, u.c, k, "/domains/{}/users/{}/sign-ins", domainID, user)
}

// EndSignIn ends a sign-in.
func (u *Users) EndSignIn(ctx context.Context, domainID, user, signIn string) error {
	return remove(ctx, u.c, "/domains/{}/users/{}/sign-ins/{}", domainID, user, signIn)
}

// EndSignIns ends all sign-ins of the user.
func (u *Users) EndSignIns(ctx context.Context, domainID, user string) error {
	return remove(ctx, u.c, "/domains/{}/users/{}/sign-ins", domainID, user)
}

// UserSearch selects users; its members are combined.
type UserSearch struct {
	// ExternalID and Username are exact.
	ExternalID, Username string
	// Query is a part of the username, petname, name, e-mail address or external ID, or a whole user ID.
	Query string
	ListParams
}

// UserParams are the parameters of a new user, who has no keys.
type UserParams struct {
	// ExternalID is the ID of the user in your own database: unique in the domain, at most 128 characters.
	ExternalID string `json:"external_id,omitempty"`
	// Username has 2 to 32 characters, and was never used by another user. It requires a key with the scope manage.
	Username string `json:"username,omitempty"`
	// Email requires a key with the scope manage.
	Email  string   `json:"email,omitempty"`
	Name   string   `json:"name,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Metadata has at most 4 kB of JSON, with a depth of at most 4.
	Metadata map[string]any `json:"metadata,omitempty"`
	// IdempotencyKey prevents a second creation. Default: a random key for each call, so that retries are safe.
	IdempotencyKey string `json:"-"`
}

// SignIn is a place where a user is signed in: a browser at the login page, or an application.
type SignIn struct {
	ID string `json:"id"`
	// Kind is browser or grant.
	Kind string `json:"kind"`
	// ClientID is the application of a grant.
	ClientID   string    `json:"client_id,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	UserAgent  string    `json:"user_agent,omitempty"`
}

// SignInList is a page of sign-ins.
type SignInList struct {
	SignIns    []SignIn `json:"sign_ins"`
	NextCursor string   `json:"next_cursor,omitempty"`
}
