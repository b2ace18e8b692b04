// Package ca is this user's certificate authority: it makes it on first use, keeps it, and signs with it the
// certificates that a forward proxy shows to clients in the place of an agent.
//
// The authority is one ECDSA P-256 key and its self-signed certificate, in a folder of the user ([DefaultDir]). The key
// never leaves the file ca-key.pem, which only the user may read; ca.pem beside it holds the certificate alone, for
// clients that are to trust it. Nothing is installed anywhere: only a client that is given the file trusts it.
//
// # What will surprise
//
//   - Anybody with the key can pretend to be any host towards clients that trust the certificate. Name constraints (RFC
//     5280 section 4.2.1.10) could limit that, but which hosts will be talked to is not known when the authority is
//     made.
//   - An authority is never renewed: [Rotate] makes another in its place, which clients must be given again. A process
//     that has opened the former one goes on with it.
//   - The certificates that it signs share one key, which is made anew in each process and never stored.
package ca
