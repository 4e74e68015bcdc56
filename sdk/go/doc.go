// Package signpost is the SDK of Signpost: login with a wallet or a passkey, and a locator of Bitcoin ATMs.
//
// [New] creates a client of the service. [NewLogin] creates a handler for logins on the service's page, [NewWallet] a
// handler for sites that receive wallets' answers themselves. [VerifyWebhook] verifies the service's events. The package
// needs only the standard library.
package signpost
