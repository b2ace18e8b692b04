// Package a2a decodes the Agent2Agent protocol in all its dialects: requests, answers, events and notifications, and
// the version that they use.
//
// It decodes and never judges. It accepts any bytes, decodes what is certain and leaves the rest empty: a missing
// member is an Absent Value, an unknown spelling is the zero State. The rules, which are built on this package, decide
// what is wrong with a message and who is at fault.
//
// Three things may surprise you. Dialects usually come as a set ([Dialects]): 0.2 and 0.3 have the same wire format
// unless a card distinguishes them. A [Value] refers to the parsed bytes, which must not be changed while it is in use;
// Text returns independent copies. Member names are compared with regard to case, unlike in encoding/json.
//
// All functions, and all values that they return, are safe for concurrent use.
package a2a

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// A Dialect is a version of A2A on the wire. Patch versions do not change it (A2A 1.0 §3.6).
type Dialect uint8

// The dialects.
const (
	V0_1 Dialect = iota // tasks/send; up to v0.1.0
	V0_2                // message/send; v0.2.0 to v0.2.6
	V0_3                // message/send; v0.3.0
	V1_0                // SendMessage; v1.0.0 and later
)

var dialectNames = [...]string{V0_1: "0.1", V0_2: "0.2", V0_3: "0.3", V1_0: "1.0"}

// String returns the major and minor version, such as "0.3".
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return "unknown"
}

// Dialects is a set of dialects. The zero Dialects is empty and means unknown.
type Dialects uint8

// Frequent sets.
const (
	noDialects   Dialects = 0
	onlyV0_1              = Dialects(1 << V0_1)
	onlyV0_3              = Dialects(1 << V0_3)
	kindDialects          = Dialects(1<<V0_2 | 1<<V0_3) // objects carry a discriminator "kind"
	before1               = onlyV0_1 | kindDialects
	sinceV0_2             = kindDialects | onlyV1_0
	onlyV1_0              = Dialects(1 << V1_0)
	allDialects           = before1 | onlyV1_0
)

// Of returns the set of the given dialects.
func Of(dialects ...Dialect) Dialects {
	var set Dialects
	for _, d := range dialects {
		set |= 1 << d
	}
	return set
}

// Has reports whether d is in the set.
func (s Dialects) Has(d Dialect) bool { return s&(1<<d) != 0 }

// Empty reports whether no dialect is in the set.
func (s Dialects) Empty() bool { return s == 0 }

// Single returns the only dialect of the set, and whether there is exactly one.
func (s Dialects) Single() (Dialect, bool) {
	if bits.OnesCount8(uint8(s)) != 1 {
		return 0, false
	}
	return Dialect(bits.TrailingZeros8(uint8(s))), true
}

// Intersect returns the dialects that are in both sets.
func (s Dialects) Intersect(t Dialects) Dialects { return s & t }

// Apart reports whether one set is exactly 1.0 and the other lacks 1.0: such programs do not understand each other. It
// is false if a set is empty.
func (s Dialects) Apart(t Dialects) bool {
	modern := Of(V1_0)
	return !s.Empty() && !t.Empty() && (s == modern && !t.Has(V1_0) || t == modern && !s.Has(V1_0))
}

// Union returns the dialects that are in either set.
func (s Dialects) Union(t Dialects) Dialects { return s | t }

// NarrowedBy returns the possible dialects of a message with its own evidence s and the context t: their intersection,
// t if s is empty, or s if the two contradict each other.
func (s Dialects) NarrowedBy(t Dialects) Dialects {
	switch both := s.Intersect(t); {
	case s.Empty():
		return t
	case !both.Empty():
		return both
	}
	return s
}

// All yields the dialects of the set, oldest first.
func (s Dialects) All() iter.Seq[Dialect] {
	return func(yield func(Dialect) bool) {
		for d := V0_1; d <= V1_0; d++ {
			if s.Has(d) && !yield(d) {
				return
			}
		}
	}
}

// String returns the dialects with slashes between them, such as "0.2/0.3", and "" for the empty set.
func (s Dialects) String() string {
	var names []string
	for d := range s.All() {
		names = append(names, d.String())
	}
	return strings.Join(names, "/")
}

// VersionDialects returns the dialects of a version in a card or in an A2A-Version header, ignoring the patch number
// and anything after it. Versions after 1.0 count as 1.0. For an empty or invalid version it returns the empty set.
//
// "0.2.9" is 0.2 or 0.3: sample cards of both have it, although it was never released.
func VersionDialects(version string) Dialects {
	major, minor, ok := majorMinor(version)
	switch {
	case !ok:
		return 0
	case major >= 1:
		return onlyV1_0
	case version == "0.2.9":
		return kindDialects
	case minor == 1:
		return onlyV0_1
	case minor == 2:
		return Of(V0_2)
	case minor >= 3: // 0.4 was never released; its traffic is like 0.3
		return onlyV0_3
	}
	return 0
}

// SameVersion reports whether two versions are valid and have the same major and minor number.
func SameVersion(a, b string) bool {
	major, minor, ok := majorMinor(a)
	otherMajor, otherMinor, otherOK := majorMinor(b)
	return ok && otherOK && major == otherMajor && minor == otherMinor
}

// majorMinor reads "1.0", "0.3.0" or "1.0.0-rc". A lone major number has the minor number 0.
func majorMinor(version string) (major, minor int, ok bool) {
	first, rest, dotted := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	second, _, _ := strings.Cut(rest, ".")
	second, _, _ = strings.Cut(second, "-")
	major, err := strconv.Atoi(first)
	if err != nil || major < 0 {
		return 0, 0, false
	}
	if !dotted {
		return major, 0, true
	}
	minor, err = strconv.Atoi(second)
	return major, minor, err == nil && minor >= 0
}

// A Cite is a reference to a section of a dialect's specification.
type Cite struct {
	In      Dialect
	Section string // "3.1.2", or another document with its section: "RFC 8259 §2"
}

// String returns "1.0 §3.1.2", or "RFC 8259 §2 (1.0)" for a section of another document.
func (c Cite) String() string {
	if strings.Contains(c.Section, "§") {
		return c.Section + " (" + c.In.String() + ")"
	}
	return c.In.String() + " §" + c.Section
}
