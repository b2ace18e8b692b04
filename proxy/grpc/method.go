package grpc

import (
	"slices"
	"strings"
)

// A Method is one call that a service of A2A has.
type Method struct {
	Service string // "a2a.v1.A2AService" before 1.0, "lf.a2a.v1.A2AService" since
	Name    string // such as "SendStreamingMessage"
	Request *Type  // nil, as Answer is, if the service has no such method
	Answer  *Type
	Streams bool // it is answered with any number of messages
}

// Known reports whether the service has the method.
func (m *Method) Known() bool { return m.Request != nil }

// Path returns the path of a request for the method.
func (m Method) Path() string { return "/" + m.Service + "/" + m.Name }

// The services: a2a.v1, up to the release candidate of 1.0, became lf.a2a.v1 with 1.0.
const (
	Service0_3 = "a2a.v1.A2AService"
	Service1_0 = "lf.a2a.v1.A2AService"
)

// own are the services that gRPC itself defines for every server: health checks, and reflection, with which tools such
// as grpcurl discover services.
//
// Sources: gRPC Health Checking Protocol, gRPC Server Reflection Protocol.
var own = []string{
	"/grpc.health.v1.Health/", "/grpc.reflection.v1.ServerReflection/", "/grpc.reflection.v1alpha.ServerReflection/",
}

// IsOwn reports whether a path calls a service that gRPC itself defines, which has nothing to do with A2A.
func IsOwn(path string) bool {
	return slices.ContainsFunc(own, func(service string) bool { return strings.HasPrefix(path, service) })
}

// methods lists the methods of each service: NAME REQUEST RESPONSE, with "stream" before a streamed response.
//
// Three have another name since 0.2.5.
//
// Sources: A2A 0.3 section 3.5.6 and its a2a.proto, A2A 1.0 sections 5.3 and 10.
var methods = map[string]map[string]Method{
	Service0_3: methodsOf(Service0_3, package0_3, `
		SendMessage SendMessageRequest SendMessageResponse
		SendStreamingMessage SendMessageRequest stream StreamResponse
		GetTask GetTaskRequest Task
		ListTasks ListTasksRequest ListTasksResponse
		CancelTask CancelTaskRequest Task
		TaskSubscription TaskSubscriptionRequest stream StreamResponse
		CreateTaskPushNotificationConfig CreateTaskPushNotificationConfigRequest TaskPushNotificationConfig
		GetTaskPushNotificationConfig GetTaskPushNotificationConfigRequest TaskPushNotificationConfig
		ListTaskPushNotificationConfig ListTaskPushNotificationConfigRequest ListTaskPushNotificationConfigResponse
		DeleteTaskPushNotificationConfig DeleteTaskPushNotificationConfigRequest Empty
		GetAgentCard GetAgentCardRequest AgentCard
		CreateTaskPushNotification CreateTaskPushNotificationConfigRequest TaskPushNotificationConfig
		GetTaskPushNotification GetTaskPushNotificationConfigRequest TaskPushNotificationConfig
		ListTaskPushNotification ListTaskPushNotificationConfigRequest ListTaskPushNotificationConfigResponse`),
	Service1_0: methodsOf(Service1_0, package1_0, `
		SendMessage SendMessageRequest SendMessageResponse
		SendStreamingMessage SendMessageRequest stream StreamResponse
		GetTask GetTaskRequest Task
		ListTasks ListTasksRequest ListTasksResponse
		CancelTask CancelTaskRequest Task
		SubscribeToTask SubscribeToTaskRequest stream StreamResponse
		CreateTaskPushNotificationConfig TaskPushNotificationConfig TaskPushNotificationConfig
		GetTaskPushNotificationConfig GetTaskPushNotificationConfigRequest TaskPushNotificationConfig
		ListTaskPushNotificationConfigs ListTaskPushNotificationConfigsRequest ListTaskPushNotificationConfigsResponse
		DeleteTaskPushNotificationConfig DeleteTaskPushNotificationConfigRequest Empty
		GetExtendedAgentCard GetExtendedAgentCardRequest AgentCard`),
}

func methodsOf(service string, types map[string]*Type, lines string) map[string]Method {
	all := make(map[string]Method)
	for line := range strings.Lines(lines) {
		if words := strings.Fields(line); len(words) > 0 {
			last := len(words) - 1
			all[words[0]] = Method{service, words[0], types[words[1]], types[words[last]], words[last-1] == "stream"}
		}
	}
	return all
}

// MethodOf returns the method that a request calls by its path, "/SERVICE/METHOD". It returns false for other services.
// For an unknown method of the A2A service, only the names are known.
//
// Source: gRPC over HTTP2, "Requests".
func MethodOf(path string) (m Method, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 1 || path[0] != '/' {
		return m, false
	}
	return MethodIn(path[1:i], path[i+1:])
}

// MethodIn returns what MethodOf does, of the method of that name in a service.
func MethodIn(service, name string) (m Method, ok bool) {
	known, ok := methods[service]
	if !ok {
		return m, false
	}
	if m, there := known[name]; there {
		return m, true
	}
	return Method{Service: service, Name: name}, true
}
