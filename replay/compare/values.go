package compare

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Values pairs the values of a recording with those of another run, which is called live, one to one within a role. It
// is safe for concurrent use.
type Values struct {
	mu       sync.Mutex
	live     map[valueKey]string // by recorded value
	recorded map[valueKey]string // by live value
	opaque   map[string]string   // by recorded value in any role, if it is Opaque and thus unambiguous
	fresh    string              // six hex digits that make the values of this run new
	shift    int64               // the same for numbers
	others   []*Values           // of the other agents: their values may be passed on
}

// A valueKey is a value in its role. Ids that are unique only within a task have that task, on the same side, for
// scope.
type valueKey struct {
	role  Role
	scope string
	text  string
}

// NewValues returns an empty table. It fails if the system has no random numbers.
func NewValues() (*Values, error) {
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	shift, err := rand.Int(rand.Reader, big.NewInt(1<<20))
	if err != nil {
		return nil, err
	}
	return &Values{
		live: map[valueKey]string{}, recorded: map[valueKey]string{}, opaque: map[string]string{},
		fresh: hex.EncodeToString(random[:]), shift: 1000 + shift.Int64(),
	}, nil
}

func scoped(role Role) bool { return role == ArtifactID || role == ConfigID }

// key returns the key of a value; task is the task's id on the same side.
func key(role Role, task, text string) valueKey {
	if !scoped(role) {
		task = ""
	}
	return valueKey{role, task, text}
}

// A Pairing is a recorded value and its live counterpart, each with its task: ids of artifacts and push configs are
// unique only within a task.
type Pairing struct {
	Role                   Role
	Recorded, Live         string
	RecordedTask, LiveTask string

	// Pair fills these at a conflict: the live value of Recorded, and the recorded value of Live.
	Wanted, AlreadyFor string
}

// Pair notes that two values correspond. It reports false, and the existing pairs, if one of them corresponds to
// another value.
func (v *Values) Pair(p *Pairing) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	recKey, liveKey := key(p.Role, p.RecordedTask, p.Recorded), key(p.Role, p.LiveTask, p.Live)
	wanted, knownRec := v.live[recKey]
	already, knownLive := v.recorded[liveKey]
	switch {
	case !knownRec && !knownLive:
		v.live[recKey], v.recorded[liveKey] = p.Live, p.Recorded
		if _, known := v.opaque[p.Recorded]; !known && p.Role != RequestID && Opaque(p.Recorded) {
			v.opaque[p.Recorded] = p.Live
		}
		return true
	case knownRec && wanted == p.Live:
		return true
	}
	p.Wanted, p.AlreadyFor = wanted, already
	return false
}

// Share lets LiveFor find the pairs of another table: a value from one agent may be passed on to another. Call it
// before using the tables.
func (v *Values) Share(other *Values) { v.others = append(v.others, other) }

// LiveFor returns the live value for a recorded one. An opaque value without a role means the same thing as elsewhere:
// a task's id in metadata refers to that task.
func (v *Values) LiveFor(role Role, task, text string) (string, bool) {
	if live, ok := v.Own(role, task, text); ok || role == RequestID {
		return live, ok
	}
	for _, other := range v.others {
		if live, ok := other.Own(role, task, text); ok {
			return live, true
		}
	}
	return "", false
}

// Own is LiveFor, only for values that this agent and its clients named.
func (v *Values) Own(role Role, task, text string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	live, ok := v.live[key(role, task, text)]
	if !ok && role == NoRole {
		live, ok = v.opaque[text]
	}
	return live, ok
}

// recordedFor returns the recorded value for a live one.
func (v *Values) recordedFor(role Role, task, text string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	recorded, ok := v.recorded[key(role, task, text)]
	return recorded, ok
}

// Renew returns this run's replacement for a value that the client made: the same each time, with the same type and
// form.
func (v *Values) Renew(role Role, text string) string {
	if live, ok := v.LiveFor(role, "", text); ok {
		return live
	}
	p := Pairing{Role: role, Recorded: text, Live: v.mint(role, text)}
	if !v.Pair(&p) && p.Wanted != "" {
		return p.Wanted
	}
	return p.Live
}

func (v *Values) mint(role Role, text string) string {
	if role != RequestID {
		return v.mintText(text)
	}
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		quoted, err := json.Marshal(v.mintText(inner))
		if err != nil {
			return text
		}
		return string(quoted)
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return strconv.FormatInt(n+v.shift, 10)
	}
	return text // a fraction, or a number that a peer may hold only approximately
}

func (v *Values) mintText(text string) string {
	if id, err := uuid.Parse(text); err == nil && id != uuid.Nil && len(text) == 36 {
		fresh := uuid.NewString()
		if strings.ToUpper(text) == text {
			fresh = strings.ToUpper(fresh)
		}
		return fresh
	}
	if text == "" {
		return text
	}
	return text + "-" + v.fresh
}
