// Package budget bounds what the bytes of a peer or of a file can cost, in memory and in time, regardless of what they
// unpack to. All bounds are declared here, so that a test can compare docs/limits.md with them.
package budget

import "time"

// A Budget bounds the reading of one text or message.
type Budget struct {
	Bytes int64 // of the text once it is unpacked, and of the JSON that a message of gRPC becomes, twice as many
	Nodes int   // values and names of JSON, or fields of a message of gRPC
}

// The bounds in the table of docs/limits.md.
const (
	ReadBytes = 16 << 20 // of a body or message that is recorded, judged or shown
	ReadNodes = 1 << 20  // of the same

	EndReadBytes = 256 << 10 // of a text that is judged when a recording has been ending for a while
	EndReadNodes = 16 << 10  // of the same
	EndReadRatio = 4         // bytes that each coded byte may become then, and bytes for each value, name or field
	EndFreeBytes = 4 << 10   // that a coded text may become besides
	EndFreeNodes = 128       // values, names or fields besides
	EndEvent     = 64        // bytes on the wire for each event, and EndFreeBytes besides

	HeldReadBytes = 4 << 20 // of a message of gRPC that is held while it is read
	HeldReadNodes = 1 << 16 // of the same
	HeldReads     = 2       // long messages that are read at once while they are held

	HeldBytes = 32 << 20 // of all messages that are held, by taps for cards and webhooks and by the user

	HeaderBytes     = 1 << 20  // of one header block of HTTP/2 once it is expanded
	FreeHeaderBytes = 4 << 10  // of each that do not count below
	ConnHeaderBytes = 8 << 20  // of these, for the streams that are open on one connection
	AllHeaderBytes  = 16 << 20 // of those on all connections

	FileRecord = 256 << 20 // of one exchange in a file that is imported
	FileNodes  = 2 << 20   // lists and objects of one exchange in such a file
	FileWhole  = 512 << 20 // of a file that is read as a whole: a transcript, or input from a pipe
)

var (
	// Read bounds the data to record, check and show. Long texts are read one after another: see background.Large.
	Read = Budget{ReadBytes, ReadNodes}
	// Held bounds the data to read in the path of the traffic: see StartHeldRead.
	Held = Budget{HeldReadBytes, HeldReadNodes}
)

// AtEnd bounds the reading of a text of n bytes on the wire when a recording has been ending for a while. The cost of
// waiting texts is then about proportional to their bytes, regardless of what they unpack to, and short texts are read
// completely.
func AtEnd(n int) Budget {
	return Budget{
		Bytes: min(EndReadBytes, EndFreeBytes+EndReadRatio*int64(n)), Nodes: min(EndReadNodes, EndFreeNodes+n/EndReadRatio),
	}
}

// heldReads has a token for each long message that is being read in the path of the traffic.
var heldReads = make(chan struct{}, HeldReads)

// heldReadPatience is how long a message waits for others that are being read. The traffic must not wait longer.
const heldReadPatience = 100 * time.Millisecond

// StartHeldRead begins to read a long message in the path of the traffic, and returns a function to call when that is
// done. It returns false if so many are being read that this one had to wait for too long.
func StartHeldRead() (done func(), ok bool) {
	select {
	case heldReads <- struct{}{}:
		return endHeldRead, true
	default:
	}
	late := time.NewTimer(heldReadPatience)
	defer late.Stop()
	select {
	case heldReads <- struct{}{}:
		return endHeldRead, true
	case <-late.C:
		return nil, false
	}
}

func endHeldRead() { <-heldReads }
