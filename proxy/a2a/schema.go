package a2a

// A Shape is the kind of JSON value that a member has.
type Shape uint8

// The shapes.
const (
	AnyShape     Shape = iota // whatever, or more than a type can say
	TextShape                 // a string
	BoolShape                 // a boolean
	IntShape                  // an integer; 1.0 takes one in a string too
	ObjectShape               // an object
	TextsShape                // a list of strings
	ObjectsShape              // a list of objects
	StructShape               // an object or a list
)

var shapeNames = [...]string{
	AnyShape:     "a value",
	TextShape:    "a string",
	BoolShape:    "a boolean",
	IntShape:     "an integer",
	ObjectShape:  "an object",
	TextsShape:   "a list of strings",
	ObjectsShape: "a list of objects",
	StructShape:  "an object",
}

// String returns words for the shape, such as "a list of strings".
func (s Shape) String() string {
	if int(s) < len(shapeNames) {
		return shapeNames[s]
	}
	return shapeNames[AnyShape]
}

// element returns the shape of the elements of a list.
func (s Shape) element() Shape {
	switch s {
	case TextsShape:
		return TextShape
	case ObjectsShape:
		return ObjectShape
	}
	return AnyShape
}

// A Slot is a member that an object of the protocol has.
type Slot struct {
	Name     string
	Shape    Shape
	In       Dialects // that have it
	Proto    Dialects // that have it in the proto JSON of 0.x over HTTP+JSON
	Required Dialects // that require it; dialects in In that are not in Required allow it
	Legacy   Dialects // older dialects that had it or something similar; a leftover in later ones

	snake string // name in the proto file, if different
}

// holds reports whether the member exists in one of the dialects.
func (f *Slot) holds(in Dialects, proto bool) bool {
	return f.In&in != 0 || proto && f.Proto&in != 0
}

const all = allDialects

// The members of the objects, in 0.1 §6, 0.2 §6, 0.3 §6 and 1.0 §4.
var (
	taskFields = fields(
		Slot{Name: "id", In: all, Required: all},
		Slot{Name: "sessionId", Shape: TextShape, In: onlyV0_1},
		Slot{Name: "contextId", Shape: TextShape, In: kindDialects | onlyV1_0},
		Slot{Name: "status", In: all, Required: all},
		Slot{Name: "artifacts", Shape: ObjectsShape, In: all},
		Slot{Name: "history", Shape: ObjectsShape, In: all},
		Slot{Name: "metadata", In: all},
		kindField,
	)
	statusFields = fields(
		Slot{Name: "state", In: all, Required: all},
		Slot{Name: "message", Shape: ObjectShape, In: all},
		Slot{Name: "update", Shape: ObjectShape, Proto: kindDialects},
		Slot{Name: "timestamp", In: all},
	)
	messageFields = fields(
		Slot{Name: "messageId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "role", In: all, Required: all},
		Slot{Name: "parts", In: all, Required: all},
		Slot{Name: "content", Proto: kindDialects},
		Slot{Name: "contextId", Shape: TextShape, In: kindDialects | onlyV1_0},
		Slot{Name: "taskId", Shape: TextShape, In: kindDialects | onlyV1_0},
		Slot{Name: "referenceTaskIds", In: kindDialects | onlyV1_0},
		Slot{Name: "extensions", In: kindDialects | onlyV1_0},
		Slot{Name: "metadata", In: all},
		kindField,
	)
	partFields = fields(
		Slot{Name: "text", Shape: TextShape, In: all},
		Slot{Name: "type", In: onlyV0_1, Legacy: onlyV1_0},
		Slot{Name: "file", Shape: ObjectShape, In: before1, Legacy: onlyV1_0},
		Slot{Name: "data", Shape: StructShape, In: onlyV0_1},
		Slot{Name: "data", In: kindDialects | onlyV1_0},
		Slot{Name: "raw", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "url", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "mediaType", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "filename", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "mimeType", Legacy: onlyV1_0},
		Slot{Name: "metadata", In: all},
		kindField,
	)
	fileFields = fields(
		Slot{Name: "name", Shape: TextShape, In: before1},
		Slot{Name: "mimeType", Shape: TextShape, In: before1},
		Slot{Name: "bytes", Shape: TextShape, In: before1},
		Slot{Name: "uri", Shape: TextShape, In: before1},
		Slot{Name: "fileWithBytes", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "fileWithUri", Shape: TextShape, Proto: kindDialects},
	)
	artifactFields = fields(
		Slot{Name: "artifactId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "index", In: onlyV0_1},
		Slot{Name: "append", In: onlyV0_1},
		Slot{Name: "lastChunk", In: onlyV0_1},
		Slot{Name: "name", Shape: TextShape, In: all},
		Slot{Name: "description", Shape: TextShape, In: all},
		Slot{Name: "parts", In: all, Required: all},
		Slot{Name: "content", Proto: kindDialects},
		Slot{Name: "extensions", In: kindDialects | onlyV1_0},
		Slot{Name: "metadata", In: all},
	)
	statusUpdateFields = fields(
		Slot{Name: "id", In: onlyV0_1, Required: onlyV0_1},
		Slot{Name: "taskId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "contextId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "status", In: all, Required: all},
		Slot{Name: "final", Shape: BoolShape, In: before1, Legacy: onlyV1_0},
		Slot{Name: "metadata", In: all},
		kindField,
	)
	artifactUpdateFields = fields(
		Slot{Name: "id", In: onlyV0_1, Required: onlyV0_1},
		Slot{Name: "taskId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "contextId", In: kindDialects | onlyV1_0, Required: kindDialects | onlyV1_0},
		Slot{Name: "artifact", In: all, Required: all},
		Slot{Name: "append", In: all}, // 0.1 has it inside the artifact, and agents also write it here
		Slot{Name: "lastChunk", In: all},
		Slot{Name: "final", Legacy: onlyV1_0},
		Slot{Name: "metadata", In: all},
		kindField,
	)
	wrapperFields = fields(
		Slot{Name: "task", Shape: ObjectShape, In: onlyV1_0, Proto: kindDialects},
		Slot{Name: "message", Shape: ObjectShape, In: onlyV1_0, Proto: kindDialects},
		Slot{Name: "msg", Shape: ObjectShape, Proto: kindDialects},
		Slot{Name: "statusUpdate", Shape: ObjectShape, In: onlyV1_0, Proto: kindDialects},
		Slot{Name: "artifactUpdate", Shape: ObjectShape, In: onlyV1_0, Proto: kindDialects},
	)
	taskListFields = fields(
		Slot{Name: "tasks", Shape: ObjectsShape, In: onlyV1_0},
		Slot{Name: "nextPageToken", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "pageSize", Shape: IntShape, In: onlyV1_0},
		Slot{Name: "totalSize", Shape: IntShape, In: onlyV1_0},
	)
)

// The members of requests and of the objects in them, in 0.1 §7, 0.2 §7, 0.3 §7 and 1.0 §3.
var (
	sendFields = fields(
		Slot{Name: "id", In: onlyV0_1, Required: onlyV0_1},
		Slot{Name: "sessionId", Shape: TextShape, In: onlyV0_1},
		Slot{Name: "message", In: all, Required: all},
		Slot{Name: "request", Proto: kindDialects},
		Slot{Name: "pushNotification", Shape: ObjectShape, In: onlyV0_1},
		Slot{Name: "historyLength", In: onlyV0_1},
		Slot{Name: "acceptedOutputModes", Shape: TextsShape, In: onlyV0_1}, // so in the first samples
		Slot{Name: "messageId", In: onlyV0_3},                              // so in an example, wrongly
		Slot{Name: "configuration", Shape: ObjectShape, In: kindDialects | onlyV1_0},
		tenantField,
		Slot{Name: "metadata", In: all},
	)
	configurationFields = fields(
		Slot{Name: "acceptedOutputModes", Shape: TextsShape, In: kindDialects | onlyV1_0},
		Slot{Name: "historyLength", In: kindDialects | onlyV1_0},
		Slot{Name: "pushNotificationConfig", Shape: ObjectShape, In: kindDialects, Legacy: onlyV1_0},
		Slot{Name: "pushNotification", Shape: ObjectShape, Proto: kindDialects},
		Slot{Name: "taskPushNotificationConfig", Shape: ObjectShape, In: onlyV1_0},
		Slot{Name: "blocking", Shape: BoolShape, In: kindDialects, Legacy: onlyV1_0},
		Slot{Name: "returnImmediately", Shape: BoolShape, In: onlyV1_0},
	)
	getFields = fields(
		Slot{Name: "id", In: all, Required: all},
		Slot{Name: "name", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "historyLength", In: all},
		tenantField,
		Slot{Name: "metadata", In: all},
	)
	listFields = fields(
		tenantField,
		Slot{Name: "contextId", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "status", In: onlyV1_0},
		Slot{Name: "pageSize", In: onlyV1_0},
		Slot{Name: "pageToken", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "historyLength", In: onlyV1_0},
		Slot{Name: "statusTimestampAfter", In: onlyV1_0},
		Slot{Name: "includeArtifacts", Shape: BoolShape, In: onlyV1_0},
	)
	pushQueryFields = fields(
		Slot{Name: "id", In: all},
		Slot{Name: "taskId", In: onlyV1_0},
		Slot{Name: "pushNotificationConfigId", Shape: TextShape, In: kindDialects},
		Slot{Name: "name", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "parent", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "pageSize", Shape: IntShape, In: onlyV1_0, Proto: kindDialects},
		Slot{Name: "pageToken", Shape: TextShape, In: onlyV1_0, Proto: kindDialects},
		tenantField,
		Slot{Name: "metadata", In: before1},
	)
	cardQueryFields     = fields(tenantField)
	pushContainerFields = fields(
		Slot{Name: "id", Shape: TextShape, In: onlyV0_1, Required: onlyV0_1},
		Slot{Name: "taskId", Shape: TextShape, In: kindDialects, Required: kindDialects},
		Slot{Name: "pushNotificationConfig", Shape: ObjectShape, In: before1},
		Slot{Name: "metadata", In: before1},
		Slot{Name: "name", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "parent", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "configId", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "config", Shape: ObjectShape, Proto: kindDialects},
		Slot{Name: "id", Shape: TextShape, Proto: kindDialects}, // of a config without container
		Slot{Name: "url", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "token", Shape: TextShape, Proto: kindDialects},
		Slot{Name: "events", Shape: TextsShape, In: onlyV0_1}, // as in a config
		Slot{Name: "authentication", Shape: ObjectShape, Proto: kindDialects},
	)
	pushConfigFields = fields(
		tenantField,
		Slot{Name: "id", Shape: TextShape, In: kindDialects | onlyV1_0},
		Slot{Name: "taskId", Shape: TextShape, In: onlyV1_0},
		Slot{Name: "url", Shape: TextShape, In: all, Required: all},
		Slot{Name: "token", Shape: TextShape, In: all},
		Slot{Name: "events", Shape: TextsShape, In: onlyV0_1}, // before it was written down
		Slot{Name: "authentication", Shape: ObjectShape, In: all},
	)
	authenticationFields = fields(
		Slot{Name: "schemes", Shape: TextsShape, In: before1, Required: before1},
		Slot{Name: "scheme", Shape: TextShape, In: onlyV1_0, Required: onlyV1_0},
		Slot{Name: "credentials", Shape: TextShape, In: all},
	)
	pushConfigListFields = fields(
		Slot{Name: "configs", Shape: ObjectsShape, In: onlyV1_0, Proto: kindDialects},
		Slot{Name: "nextPageToken", Shape: TextShape, In: onlyV1_0, Proto: kindDialects},
	)
)

var (
	kindField   = Slot{Name: "kind", Shape: TextShape, In: kindDialects, Legacy: onlyV1_0}
	tenantField = Slot{Name: "tenant", Shape: TextShape, In: onlyV1_0}
)

// fields completes a list of fields.
func fields(list ...Slot) []Slot {
	for i := range list {
		if snake := snakeCase(list[i].Name); snake != list[i].Name {
			list[i].snake = snake
		}
	}
	return list
}

// fieldsOf returns the fields of a type; those of parameters depend on the operation.
func fieldsOf(t EntityType, o Operation) []Slot {
	if t == ParamsEntity {
		switch o {
		case SendMessage, SendStreamingMessage:
			return sendFields
		case ListTasks:
			return listFields
		case GetPushConfig, ListPushConfigs, DeletePushConfig:
			return pushQueryFields
		case GetExtendedCard:
			return cardQueryFields
		}
		return getFields
	}
	if int(t) < len(entityFields) {
		return entityFields[t]
	}
	return nil
}

var entityFields = [...][]Slot{
	TaskEntity:           taskFields,
	StatusEntity:         statusFields,
	MessageEntity:        messageFields,
	PartEntity:           partFields,
	FileEntity:           fileFields,
	ArtifactEntity:       artifactFields,
	StatusUpdateEntity:   statusUpdateFields,
	ArtifactUpdateEntity: artifactUpdateFields,
	WrapperEntity:        wrapperFields,
	TaskListEntity:       taskListFields,
	ConfigurationEntity:  configurationFields,
	PushContainerEntity:  pushContainerFields,
	PushConfigEntity:     pushConfigFields,
	AuthenticationEntity: authenticationFields,
	PushConfigListEntity: pushConfigListFields,
}
