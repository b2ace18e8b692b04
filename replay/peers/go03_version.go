package peers

import "github.com/a2aproject/a2a-go/a2a"

// go03Version is the version of the protocol that the SDK names. Older ones name none: see testdata/go03old.
const go03Version = string(a2a.Version)
