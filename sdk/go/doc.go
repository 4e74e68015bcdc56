// Package signpost is the SDK of Signpost: login with a wallet or a passkey, and a locator of Bitcoin ATMs.
//
// [New] makes a client of the service. [NewLogin] is a handler that logs people in on the service's page; [NewWallet] is one
// for sites that answer wallets themselves. [VerifyWebhook] checks the events that the service posts. The package needs
// nothing but the standard library.
package signpost
