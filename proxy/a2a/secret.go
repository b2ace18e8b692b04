package a2a

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// configPointers are the possible places of a push notification config, below the parameters or body of a request and
// below the result or body of an answer: alone, in the container of 0.x, in the member that 0.3 adds over HTTP+JSON, or
// along with a message.
type configPointers struct {
	operations []Operation
	answer     bool // in the answer; otherwise in the request
	pointer    string
	in         Dialects
}

var secretConfigs = [...]configPointers{
	{sendOperations, false, "/pushNotification", onlyV0_1},
	{sendOperations, false, "/configuration/pushNotificationConfig", kindDialects | onlyV1_0}, // 1.0.0-rc has it too
	{sendOperations, false, "/configuration/pushNotification", kindDialects},                  // proto JSON
	{sendOperations, false, "/configuration/taskPushNotificationConfig", onlyV1_0},
	{createOperation, false, "", kindDialects | onlyV1_0},
	{createOperation, false, "/pushNotificationConfig", allDialects},
	{createOperation, false, "/config", kindDialects | onlyV1_0},
	{createOperation, false, "/config/pushNotificationConfig", kindDialects | onlyV1_0},
	{configOperations, true, "", kindDialects | onlyV1_0},
	{configOperations, true, "/pushNotificationConfig", allDialects},
	{listOperation, true, "/*", kindDialects},
	{listOperation, true, "/*/pushNotificationConfig", kindDialects},
	{listOperation, true, "/configs/*", kindDialects | onlyV1_0},
	{listOperation, true, "/configs/*/pushNotificationConfig", kindDialects | onlyV1_0},
}

var (
	sendOperations   = []Operation{SendMessage, SendStreamingMessage}
	createOperation  = []Operation{CreatePushConfig}
	configOperations = []Operation{CreatePushConfig, GetPushConfig}
	listOperation    = []Operation{ListPushConfigs}
)

// secretMembers are the members of a config that must not be shown to others.
var secretMembers = [...]string{"/token", "/authentication/credentials"}

// SecretPointers returns the places where the request and the answer of an operation may hold the token and the
// credentials of push notification configs, for both bindings and in all spellings of the dialects. A "*" matches every
// element. The empty set means all dialects, since looking in vain is better than storing a secret. The list must not
// be changed.
func SecretPointers(o Operation, in Dialects) []string {
	if in.Empty() {
		in = allDialects
	}
	key := secretKey{o, in}
	if known, ok := secretPointers.Load(key); ok {
		return known.([]string)
	}
	pointers := findSecretPointers(o, in)
	secretPointers.Store(key, pointers)
	return pointers
}

// secretPointers caches the results of SecretPointers, by secretKey: a recorder needs them for each message.
var secretPointers sync.Map

type secretKey struct {
	operation Operation
	in        Dialects
}

func findSecretPointers(o Operation, in Dialects) []string {
	var pointers []string
	for _, s := range secretConfigs {
		if s.in.Intersect(in).Empty() || !slices.Contains(s.operations, o) {
			continue
		}
		envelope := "/params"
		if s.answer {
			envelope = "/result"
		}
		for _, member := range secretMembers {
			at, asInProto := s.pointer+member, snakeCase(s.pointer)+member
			for _, pointer := range [...]string{envelope + at, at, envelope + asInProto, asInProto} {
				if !slices.Contains(pointers, pointer) {
					pointers = append(pointers, pointer)
				}
			}
		}
	}
	return pointers
}

// snakeCase returns a pointer with names as spelled in the proto files. Parsers of proto JSON accept these spellings,
// too, and some agents write them, such as a2a-go/v2 over the HTTP+JSON of its 0.3 layer.
func snakeCase(pointer string) string {
	var b strings.Builder
	for _, r := range pointer {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
