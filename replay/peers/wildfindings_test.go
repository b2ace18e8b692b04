package peers

// confirmedWild are the findings in the traffic of the older versions, each confirmed on the wire, as in confirmed
// for the peers.
var confirmedWild = []confirmation{
	{
		"go0303-go200-jsonrpc go2-go200-jsonrpc go2-go200-rest go2-go210-jsonrpc go2-go210-rest go200-go200-jsonrpc go200-go200-rest go210-go210-jsonrpc go210-go210-rest",
		"warning agent card-cache-control response.header[Cache-Control]: ",
		"the card comes without Cache-Control; 1.0 section 8.6.1",
	},
	{
		"go0303-go200-jsonrpc go2-go200-jsonrpc go2-go200-rest go2-go210-jsonrpc go2-go210-rest go200-go200-jsonrpc go200-go200-rest go210-go210-jsonrpc go210-go210-rest",
		"warning agent card-etag response.header[ETag]: ",
		"the card comes without ETag; 1.0 section 8.6.1",
	},
	{
		"go03-js02-jsonrpc js02-go03-jsonrpc",
		"note nobody card-unavailable response.status: ",
		"the agent of another version has its card at the other well-known path",
	},
	{
		"go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest",
		"warning client legacy-field-emitted request.body#/configuration/pushNotificationConfig: ",
		"the client writes pushNotificationConfig; 1.0 calls it taskPushNotificationConfig",
	},
	{
		"go200-go2-jsonrpc go200-go200-jsonrpc go210-go2-jsonrpc go210-go210-jsonrpc",
		"warning client legacy-field-emitted request.body#/params/configuration/pushNotificationConfig: ",
		"the client writes pushNotificationConfig; 1.0 calls it taskPushNotificationConfig",
	},
	{
		"go2-js10-jsonrpc js10-js10-jsonrpc py1-js10-jsonrpc",
		"error agent list-next-token-present response.body#/result: ",
		"the page is written by proto JSON, which leaves out empty strings, lists and zeros; 1.0 section 3.1.4 wants \"\" on the last page",
	},
	{
		"go2-js10-rest js10-js10-rest py1-js10-rest",
		"error agent list-next-token-present response.body#: ",
		"the page is written by proto JSON, which leaves out empty strings, lists and zeros; 1.0 section 3.1.4 wants \"\" on the last page",
	},
	{
		"go2-go200-rest go2-go210-rest go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest js10-go2-rest",
		"warning agent msg-context-on-server-message response.body#/message: ",
		"the message has no contextId; the proto of 1.0 asks for one in what agents send",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc go200-go2-jsonrpc go200-go200-jsonrpc go210-go2-jsonrpc go210-go210-jsonrpc js10-go2-jsonrpc",
		"warning agent msg-context-on-server-message response.body#/result/message: ",
		"the message has no contextId; the proto of 1.0 asks for one in what agents send",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc go200-go200-jsonrpc go210-go210-jsonrpc",
		"error agent push-list-shape-v1 response.body#/result: ",
		"the answer is a bare array; 1.0 section 3.1.9 has an object with configs",
	},
	{
		"go2-go200-rest go2-go210-rest go200-go200-rest go210-go210-rest",
		"error agent push-list-shape-v1 response.body#: ",
		"the answer is a bare array; 1.0 section 3.1.9 has an object with configs",
	},
	{
		"py02-js02-jsonrpc",
		"warning client req-capability-push request: ",
		"the card says pushNotifications:false, and the client configures some all the same; 1.0 section 3.3.4 and its like before",
	},
	{
		"js02-js02-jsonrpc",
		"warning client req-capability-push request: ",
		"the card says pushNotifications:false, and the client configures some all the same; 1.0 section 3.3.4 and its like before",
	},
	{
		"go200-go2-jsonrpc go200-go200-jsonrpc go210-go2-jsonrpc go210-go210-jsonrpc",
		"error client req-push-config request.body#/params: ",
		"the client wraps the config in a member config, as the drafts of 1.0 had it; 1.0 section 4.3.1 has url at the top",
	},
	{
		"go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest",
		"error client req-push-config request.body#: ",
		"the client wraps the config in a member config, as the drafts of 1.0 had it; 1.0 section 4.3.1 has url at the top",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc go200-go2-jsonrpc go210-go2-jsonrpc",
		"error client req-push-delete-id request.body#/params/id: ",
		"the agent refused the config, so the client has no id and sends an empty one; 1.0 section 3.1.10",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc go200-go2-jsonrpc go210-go2-jsonrpc",
		"error client req-push-get-id request.body#/params/id: ",
		"the agent refused the config, so the client has no id and sends an empty one; 1.0 section 3.1.8",
	},
	{
		"go2-go200-rest go2-go210-rest go2-js10-rest go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest",
		"error client rest-body-object request.body#: ",
		"the client posts null where it has no metadata; 1.0 section 11.4 wants the request object, and no body would do",
	},
	{
		"go2-go200-rest go2-go210-rest go2-js10-rest go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest",
		"error client rest-route-known request.line: ",
		"the client had got no id for its config, leaves it out of the path, and asks a route that there is none",
	},
	{
		"go03-go0303-jsonrpc go0303-go0303-jsonrpc",
		"error agent rpc-answer-missing response.body: ",
		"status 200 and no body for a request with an id; JSON-RPC 2.0 section 5",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc go200-go200-jsonrpc go210-go210-jsonrpc",
		"error agent rpc-error-data-array response.body#/error/data: ",
		"error.data is an object; 1.0 section 9.5 has an array of objects with @type",
	},
	{
		"go2-go200-jsonrpc go2-go210-jsonrpc",
		"note agent rpc-error-data-array response.body#/error/data: ",
		"error.data is an object; 1.0 section 9.5 has an array of objects with @type",
	},
	{
		"go200-go2-jsonrpc go210-go2-jsonrpc",
		"note agent rpc-errorinfo-reason response.body#/error/data/0/reason: ",
		"the reason is INTERNAL_ERROR or INVALID_PARAMS under the domain of A2A, which has no such reasons; 1.0 section 5.4",
	},
	{
		"go200-go2-rest go200-go200-rest go210-go2-rest go210-go210-rest",
		"note agent rpc-errorinfo-reason response.body#/error/details/0/reason: ",
		"the reason is INTERNAL_ERROR or INVALID_PARAMS under the domain of A2A, which has no such reasons; 1.0 section 5.4",
	},
	{
		"go03-go0303-jsonrpc go0303-go0303-jsonrpc",
		"error agent rpc-response-content-type response.header[Content-Type]: ",
		"the agent sets no Content-Type, so its HTTP server guesses text/plain; 0.3 section 3.2.1 wants application/json",
	},
	{
		"go0303-go03-jsonrpc",
		"error agent rpc-response-content-type response.header[Content-Type]: ",
		"the agent sets no Content-Type, so its HTTP server guesses text/plain; 0.3 section 3.2.1 wants application/json",
	},
	{
		"go0303-go03-jsonrpc go2-go200-jsonrpc go2-go210-jsonrpc go200-go2-jsonrpc go200-go200-jsonrpc go210-go2-jsonrpc go210-go210-jsonrpc js10-go2-jsonrpc py1-py03-jsonrpc",
		"error agent rpc-result-xor-error response.body#: ",
		"the answer holds neither result nor error; JSON-RPC 2.0 section 5 wants one of them",
	},
	{
		"go2-js10-jsonrpc js10-js10-jsonrpc py1-js10-jsonrpc",
		"error agent state-cancel-terminal-code response.body#/error: ",
		"the agent answers InternalError for a task that had ended; 1.0 section 3.1.5 has TaskNotCancelableError",
	},
	{
		"go2-js10-jsonrpc js10-js10-jsonrpc py1-js10-jsonrpc",
		"error agent error-not-found-code response.body#/error: ",
		"the agent answers InternalError for a task that it says not to find; 1.0 section 5.4 has TaskNotFoundError",
	},
	{
		"go2-js10-rest js10-js10-rest py1-js10-rest",
		"error agent error-not-found-code response.body#/error: ",
		"the agent answers status 500 for a task that it says not to find; 1.0 section 5.4 has 404",
	},
	{
		"go2-js10-rest js10-js10-rest py1-js10-rest",
		"error agent state-cancel-terminal-code response.body#/error: ",
		"the agent answers status 500 for a task that had ended; 1.0 section 3.1.5 has TaskNotCancelableError",
	},
	{
		"go2-go200-rest go2-go210-rest",
		"error agent push-get-details response.body#/config: ",
		"the config is wrapped in a member config, as the drafts of 1.0 had it; 1.0 section 4.3.1 has url at the top",
	},
	{
		"go200-go200-jsonrpc go210-go210-jsonrpc",
		"error agent push-get-details response.body#/result/config: ",
		"the config is wrapped in a member config, as the drafts of 1.0 had it; 1.0 section 4.3.1 has url at the top",
	},
}
