package client

import "errors"

// ReadNotification reads the body of a push notification of any dialect: an event of a stream (A2A 1.0 §4.3.3), a task
// (A2A 0.2, 0.3), an update that names its task as taskId and has a status, as some agents of 0.1 send it, or the
// earlier form. In the earlier form, the event's Name is the kind of event, status or artifact, and the status is the
// task's.
func ReadNotification(body []byte) (Event, error) {
	e, err := decodeEvent(body)
	if err == nil {
		e.Raw, e.Result = body, body
		return e, nil
	}
	if t, err := ReadTask(body); err == nil {
		return Event{Task: t, Raw: body, Result: body}, nil
	}
	if early, err := readEarlyNotification(body); err == nil {
		return early, nil
	}
	status, artifact := &StatusUpdate{Raw: body}, &ArtifactUpdate{Raw: body}
	if unmarshal(body, status) != nil || unmarshal(body, artifact) != nil || status.TaskID == "" {
		return Event{}, err
	}
	e = Event{Raw: body, Result: body}
	switch {
	case artifact.Artifact.ID != "" || len(artifact.Artifact.Parts) > 0:
		e.Artifact = artifact
	case status.Status.State != "":
		e.Status = status
	default:
		return Event{}, errors.New("is neither an event nor a task")
	}
	return e, nil
}

// TaskID returns the id of the task that the event is about, or nothing.
func (e Event) TaskID() string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.Status != nil:
		return e.Status.TaskID
	case e.Artifact != nil:
		return e.Artifact.TaskID
	case e.Message != nil:
		return e.Message.TaskID
	}
	return ""
}
