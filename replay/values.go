package replay

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

// values pairs the values of the recording with those of the live run, one to one within a role. It is safe for
// concurrent use.
type values struct {
	mu       sync.Mutex
	live     map[valueKey]string // by recorded value
	recorded map[valueKey]string // by live value
	opaque   map[string]string   // by recorded value whatever its role, where that can be nothing else: it is Opaque
	fresh    string              // what makes the values of this run new: six hex digits
	shift    int64               // the same for numbers
	others   []*values           // of the other agents: what they named may be handed on
}

// A valueKey is a value in its role. Ids that are unique only within a task have that task, on the same side, for
// scope.
type valueKey struct {
	role  Role
	scope string
	text  string
}

func newValues() (*values, error) {
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	shift, err := rand.Int(rand.Reader, big.NewInt(1<<20))
	if err != nil {
		return nil, err
	}
	return &values{
		live: map[valueKey]string{}, recorded: map[valueKey]string{}, opaque: map[string]string{},
		fresh: hex.EncodeToString(random[:]), shift: 1000 + shift.Int64(),
	}, nil
}

func scoped(role Role) bool { return role == ArtifactID || role == ConfigID }

// key makes the key of a value; the task is that of the same side.
func key(role Role, task, text string) valueKey {
	if !scoped(role) {
		task = ""
	}
	return valueKey{role, task, text}
}

// A pairing is a recorded value and the live one that came in its place, each with the task it belongs to.
type pairing struct {
	role               Role
	recorded, live     string
	recTask, liveTask  string
	wanted, alreadyFor string // filled by pair at a conflict: the live value of recorded, and the recorded value of live
}

// pair notes that two values stand for each other. It reports false, and what it knew, if one of them stands for
// another.
func (v *values) pair(p *pairing) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	recKey, liveKey := key(p.role, p.recTask, p.recorded), key(p.role, p.liveTask, p.live)
	wanted, knownRec := v.live[recKey]
	already, knownLive := v.recorded[liveKey]
	switch {
	case !knownRec && !knownLive:
		v.live[recKey], v.recorded[liveKey] = p.live, p.recorded
		if _, known := v.opaque[p.recorded]; !known && p.role != RequestID && Opaque(p.recorded) {
			v.opaque[p.recorded] = p.live
		}
		return true
	case knownRec && wanted == p.live:
		return true
	}
	p.wanted, p.alreadyFor = wanted, already
	return false
}

// liveFor returns the live value in place of a recorded one. An opaque value is the same thing where it stands without
// a role: a task id in somebody's metadata is that task's.
func (v *values) liveFor(role Role, task, text string) (string, bool) {
	if live, ok := v.own(role, task, text); ok || role == RequestID {
		return live, ok
	}
	for _, other := range v.others {
		if live, ok := other.own(role, task, text); ok {
			return live, true
		}
	}
	return "", false
}

// own is liveFor for what this agent and its clients named.
func (v *values) own(role Role, task, text string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	live, ok := v.live[key(role, task, text)]
	if !ok && role == NoRole {
		live, ok = v.opaque[text]
	}
	return live, ok
}

// recordedFor returns the recorded value that a live one stands for.
func (v *values) recordedFor(role Role, task, text string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	recorded, ok := v.recorded[key(role, task, text)]
	return recorded, ok
}

// renew returns the value that this run uses in place of one that the client had made: the same each time, of the same
// type and look.
func (v *values) renew(role Role, text string) string {
	if live, ok := v.liveFor(role, "", text); ok {
		return live
	}
	p := pairing{role: role, recorded: text, live: v.mint(role, text)}
	if !v.pair(&p) && p.wanted != "" {
		return p.wanted
	}
	return p.live
}

func (v *values) mint(role Role, text string) string {
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

func (v *values) mintText(text string) string {
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
