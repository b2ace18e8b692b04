// Package ca is this user's certificate authority: it creates the authority on first use, keeps it, and signs the
// certificates that a forward proxy shows to clients instead of an agent's.
//
// The authority is one ECDSA P-256 key and its self-signed certificate, in a folder of the user ([DefaultDir]). The key
// never leaves the file ca-key.pem, which only the user may read; ca.pem next to it has only the certificate, for
// clients that should trust it. Nothing is installed: only clients that are given the file trust it.
//
// # What will surprise
//
//   - Anyone with the key can pretend to be any host towards clients that trust the certificate. Name constraints (RFC
//     5280 section 4.2.1.10) could limit that, but the hosts are not known when the authority is made.
//   - An authority is never renewed: [Rotate] replaces it with another, which clients must be given again. A process
//     that has opened the former one continues to use it.
//   - The certificates that it signs share one key, which each process generates again and never stores.
package ca
