package signpost

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// OIDCClient is an application that users of a hosted domain log in to by OpenID Connect.
type OIDCClient struct {
	ClientID string `json:"client_id"`
	Name     string `json:"name,omitempty"`
	// Issuer is for the configuration of the application.
	Issuer string `json:"issuer"`
	// Public is true if the client has no secret.
	Public         bool     `json:"public"`
	RedirectURIs   []string `json:"redirect_uris"`
	PostLogoutURIs []string `json:"post_logout_uris"`
	// Alg is the signing algorithm of ID tokens, RS256 or ES256.
	Alg string `json:"alg"`
	// Email is the claim of the scope email: synthetic, none or verified.
	Email string `json:"email"`
	// PKCE is true if authorization requests must use PKCE.
	PKCE bool `json:"pkce"`
	// Trusted is true if the client requires no consent.
	Trusted bool `json:"trusted"`
	// Allow lists the users who may log in: usr_…, a public key, group:NAME, or *.
	Allow []string `json:"allow,omitempty"`
	// TokenEndpointAuthMethod is client_secret_basic, client_secret_post or any.
	TokenEndpointAuthMethod string    `json:"token_endpoint_auth_method,omitempty"`
	CreatedAt               time.Time `json:"created_at"`
	PreviousSecretUntil     time.Time `json:"previous_secret_until,omitzero"`
}

// OIDCClientWithSecret is a client with its new secret, which is empty for a public client.
type OIDCClientWithSecret struct {
	OIDCClient
	ClientSecret string `json:"client_secret,omitempty"`
}

// OIDCClientList is a page of clients.
type OIDCClientList struct {
	Clients    []OIDCClient `json:"clients"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// OIDCClientParams are the parameters of a new client; only RedirectURIs is required.
type OIDCClientParams struct {
	Name string `json:"name,omitempty"`
	// Public is true for a client that cannot store a secret.
	Public                  bool     `json:"public,omitempty"`
	RedirectURIs            []string `json:"redirect_uris"`
	PostLogoutURIs          []string `json:"post_logout_uris,omitempty"`
	Alg                     string   `json:"alg,omitempty"`
	Email                   string   `json:"email,omitempty"`
	PKCE                    *bool    `json:"pkce,omitempty"`
	Trusted                 bool     `json:"trusted,omitempty"`
	Allow                   []string `json:"allow,omitzero"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method,omitempty"`
}

// OIDCClientChange changes a client. Members that are not set stay unchanged.
type OIDCClientChange struct {
	Name                    Nullable[string]   `json:"name,omitzero"`
	RedirectURIs            []string           `json:"redirect_uris,omitzero"`
	PostLogoutURIs          []string           `json:"post_logout_uris,omitzero"`
	Alg                     string             `json:"alg,omitempty"`
	Email                   string             `json:"email,omitempty"`
	PKCE                    *bool              `json:"pkce,omitempty"`
	Trusted                 *bool              `json:"trusted,omitempty"`
	Allow                   Nullable[[]string] `json:"allow,omitzero"`
	TokenEndpointAuthMethod Nullable[string]   `json:"token_endpoint_auth_method,omitzero"`
}

// OIDCClientRotation selects whether the previous secret expires at once. By default it is accepted for 24 hours more.
type OIDCClientRotation struct {
	Now bool `json:"now,omitempty"`
}

// Clients are the OpenID Connect clients of hosted domains.
type Clients struct{ c *Client }

// Create creates a client. Only this result contains the secret.
func (s *Clients) Create(ctx context.Context, domainID string, params OIDCClientParams) (*OIDCClientWithSecret, error) {
	return to[OIDCClientWithSecret](ctx, s.c, call{method: http.MethodPost, body: params}, "/domains/{}/clients", domainID)
}

// List returns a page of clients, oldest first.
func (s *Clients) List(ctx context.Context, domainID string, params ListParams) (*OIDCClientList, error) {
	k := call{method: http.MethodGet, query: params.query(), repeatable: true}
	return to[OIDCClientList](ctx, s.c, k, "/domains/{}/clients", domainID)
}

// All iterates over all clients of a domain, oldest first.
func (s *Clients) All(ctx context.Context, domainID string) iter.Seq2[OIDCClient, error] {
	return pages(ListParams{}, func(page ListParams) ([]OIDCClient, string, error) {
		list, err := s.List(ctx, domainID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Clients, list.NextCursor, nil
	})
}

// Get returns a client.
func (s *Clients) Get(ctx context.Context, domainID, client string) (*OIDCClient, error) {
	return to[OIDCClient](ctx, s.c, call{method: http.MethodGet, repeatable: true}, "/domains/{}/clients/{}", domainID, client)
}

// Update changes a client.
func (s *Clients) Update(ctx context.Context, domainID, client string, change OIDCClientChange) (*OIDCClient, error) {
	k := call{method: http.MethodPatch, body: change, repeatable: true}
	return to[OIDCClient](ctx, s.c, k, "/domains/{}/clients/{}", domainID, client)
}

// RotateSecret replaces the secret. Only this result contains the new secret.
func (s *Clients) RotateSecret(ctx context.Context, domainID, client string, rotation OIDCClientRotation) (*OIDCClientWithSecret, error) {
	k := call{method: http.MethodPost, body: rotation}
	return to[OIDCClientWithSecret](ctx, s.c, k, "/domains/{}/clients/{}/rotate", domainID, client)
}

// Delete deletes a client and revokes its tokens.
func (s *Clients) Delete(ctx context.Context, domainID, client string) error {
	return remove(ctx, s.c, "/domains/{}/clients/{}", domainID, client)
}
