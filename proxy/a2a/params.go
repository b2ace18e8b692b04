package a2a

import "strconv"

// readParams fills in the ids and limits from the parameters, and for HTTP+JSON from the query. It keeps values from
// the route.
func (c *Call) readParams() {
	p := c.Params
	if p.Kind() == Object {
		c.readBody(p)
	}
	if c.Binding == HTTPJSON && c.Query != "" {
		c.readQuery()
	}
}

func (c *Call) readBody(p Value) {
	if c.Version == "" {
		c.Version = p.Get("A2A-Version").Text()
	}
	if c.Tenant == "" {
		c.Tenant = p.Get("tenant").Text()
	}
	switch c.Operation {
	case SendMessage, SendStreamingMessage:
		c.readSend(p)
	case CreatePushConfig:
		c.PushConfig = PushConfig{p}
		if c.Dialects == onlyV0_1 { // whose configs have no id
			c.taskID(firstText(p.Get("id"), p.Get("taskId")))
			return
		}
		c.taskID(c.PushConfig.TaskID())
		c.configID(c.PushConfig.ID())
	case GetPushConfig, DeletePushConfig:
		if c.Dialects.Has(V1_0) {
			c.taskID(p.Get("taskId").Text())
			c.configID(p.Get("id").Text())
		} else {
			c.taskID(p.Get("id").Text())
			c.configID(p.Get("pushNotificationConfigId").Text())
		}
	case ListPushConfigs:
		c.taskID(firstText(p.Get("taskId"), p.Get("id")))
	case ListTasks:
		c.ContextID = p.Get("contextId").Text()
	case GetTask, CancelTask, SubscribeToTask:
		c.taskID(p.Get("id").Text())
	case NoOperation: // an unknown method may still send a message
		if message := p.Get("message"); isMessage(message) {
			c.readSend(p)
		}
	}
	c.PageToken = p.Get("pageToken").Text()
	c.historyLength(p.Get("historyLength"))
}

// readSend reads the parameters of a send: TaskSendParams of 0.1, MessageSendParams of 0.2 and 0.3, SendMessageRequest
// of 1.0. The proto JSON of 0.2 calls the message "request".
func (c *Call) readSend(p Value) {
	message := Message{first(p, "message", "request")}
	c.Message, c.MessageID, c.ContextID = message.Value, message.ID(), message.ContextID()
	if c.Dialects == onlyV0_1 {
		c.taskID(p.Get("id").Text())
	} else {
		c.taskID(message.TaskID())
	}
	configuration := p.Get("configuration")
	c.historyLength(configuration.Get("historyLength"))
	config := first(configuration, "taskPushNotificationConfig", "pushNotificationConfig", "pushNotification")
	if !config.Exists() {
		config = p.Get("pushNotification")
	}
	if config.Kind() == Object {
		c.PushConfig = PushConfig{config}
		c.configID(c.PushConfig.ID())
	}
}

func (c *Call) taskID(id string) {
	if c.TaskID == "" {
		c.TaskID = id
	}
}

func (c *Call) configID(id string) {
	if c.ConfigID == "" {
		c.ConfigID = id
	}
}

func (c *Call) historyLength(v Value) {
	if n, ok := v.Int(); ok && !c.HasHistoryLength {
		c.HistoryLength, c.HasHistoryLength = n, true
	}
}

func (c *Call) readQuery() {
	if c.Tenant == "" {
		c.Tenant, _ = c.QueryValue("tenant")
	}
	if c.ContextID == "" {
		c.ContextID, _ = c.QueryValue("contextId")
	}
	if c.PageToken == "" {
		c.PageToken, _ = c.QueryValue("pageToken")
	}
	if text, ok := c.QueryValue("historyLength"); ok && !c.HasHistoryLength {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			c.HistoryLength, c.HasHistoryLength = n, true
		}
	}
}

// sendParamsDialects returns the dialects that the parameters of a send indicate, or the empty set. In 0.1 the
// parameters themselves name the task and the session.
func sendParamsDialects(p Value) Dialects {
	configuration := p.Get("configuration")
	switch {
	case configuration.Has("returnImmediately"), configuration.Has("taskPushNotificationConfig"):
		return onlyV1_0
	case configuration.Has("blocking"), configuration.Has("pushNotificationConfig"),
		configuration.Has("pushNotification"):
		return kindDialects
	case p.Has("tenant"):
		return onlyV1_0
	case p.Has("id"), p.Has("sessionId"):
		return onlyV0_1
	}
	return 0
}
