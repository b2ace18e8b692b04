package analysis

import "a2atap/proxy/a2a"

// Traits is a set of what may hold of an observation and is seen at once. Most rules are about a case that is rare, and
// a rule that says which one (Rule.If) is not asked where it is not there.
type Traits uint32

// The traits.
const (
	// Of the call. A batch has none of its calls'.
	Batched    Traits = 1 << iota // it is a batch
	NamesTask                     // it names a task
	OfTask                        // it gets, cancels or follows a task
	OfTasks                       // it lists tasks
	OfLists                       // the same, or push configs
	AboutTask                     // it gets, cancels or follows a task, or is about push configs
	OfPush                        // it is about push configs
	Configured                    // the same, or a message that is sent with a configuration, or with a push config
	OfExtended                    // it asks for the extended card
	OfStream                      // it asks for a stream of events
	Carded                        // cards that had come before it name its interface, in its binding
	Offered                       // cards name something at the origin it goes to; as its request is seen

	// Of the answer.
	Refused  // it is an error, by what it holds or by its status, or may hold one since the call is a batch
	Streamed // it is a stream of events

	// Of the object at hand. All of them hold where there is none.
	HasMetadata // it has metadata
	HasContent  // it is a part or a file, and has members that a part of nothing but text does not have
	HasMentions // it mentions extensions, or other tasks
	Told        // it stands in an answer, an event or a notification
	PlainNames  // its members may stand under their names in the proto file: in 1.0, and but for JSON-RPC before

	ofObject = HasMetadata | HasContent | HasMentions | Told | PlainNames
)

// ofOperation has the traits that are an operation's.
var ofOperation = [...]Traits{
	a2a.GetTask: OfTask | AboutTask, a2a.CancelTask: OfTask | AboutTask, a2a.SubscribeToTask: OfTask | AboutTask,
	a2a.ListTasks:        OfTasks | OfLists,
	a2a.CreatePushConfig: OfPush | Configured | AboutTask, a2a.GetPushConfig: OfPush | Configured | AboutTask,
	a2a.ListPushConfigs: OfPush | Configured | AboutTask | OfLists, a2a.DeletePushConfig: OfPush | Configured | AboutTask,
	a2a.GetExtendedCard: OfExtended,
}

// Traits returns what holds of the observation, and what is unusual about the members of its object: anything may be
// where it has none.
func (o *Observation) Traits() (t Traits, odd a2a.Oddity) {
	call := &o.Exchange.Call
	if int(call.Operation) < len(ofOperation) {
		t = ofOperation[call.Operation]
	}
	if call.Batch != nil {
		t |= Batched | Refused
	}
	if call.Streams || call.Operation.Streams() {
		t |= OfStream
	}
	if call.TaskID != "" {
		t |= NamesTask
	}
	if call.PushConfig.Exists() || call.Params.Has("configuration") {
		t |= Configured
	}
	if o.Exchange.Stream != nil {
		t |= Streamed
	}
	t |= o.Exchange.carded
	if o.Answer != nil && (o.Answer.Err != nil || o.Exchange.Response.Status >= 400) {
		t |= Refused
	}
	if o.Entity == nil {
		return t | ofObject, ^a2a.Oddity(0)
	}
	odd = o.Entity.Oddities()
	return t | ofEntity(o.Entity, odd), odd
}

func ofEntity(e *a2a.Entity, odd a2a.Oddity) (t Traits) {
	if odd&a2a.MetadataMember != 0 {
		t |= HasMetadata
	}
	if odd&a2a.ContentMember != 0 && (e.Type == a2a.PartEntity || e.Type == a2a.FileEntity) {
		t |= HasContent
	}
	if odd&a2a.MentionMember != 0 {
		t |= HasMentions
	}
	if e.In != a2a.InRequest {
		t |= Told
	}
	if e.Modern() || e.Proto() {
		t |= PlainNames
	}
	return t
}
