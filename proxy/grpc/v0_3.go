package grpc

// package0_3 has the messages of A2A 0.3: package a2a.v1 of its a2a.proto, which defines them according to 0.3 section
// 3.2.2. The file gives some fields a different JSON name. The table also has lists of tasks, which only SDKs of 0.3
// have.
var package0_3 = (&schema{
	enums: map[string]*enum{
		"TaskState": {[]string{
			"TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED",
			"TASK_STATE_FAILED", "TASK_STATE_CANCELLED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED",
			"TASK_STATE_AUTH_REQUIRED",
		}},
		"Role": {[]string{"ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"}},
	},
	types: map[string]string{
		"Empty": ``,

		// Messages and tasks.
		"Task": `1 id string; 2 contextId string; 3 status TaskStatus; 4 artifacts []Artifact; 5 history []Message;
			6 metadata Struct`,
		"TaskStatus": `1 state TaskState; 2 message Message; 3 timestamp Timestamp`,
		"Message": `1 messageId string; 2 contextId string; 3 taskId string; 4 role Role; 5 content []Part;
			6 metadata Struct; 7 extensions []string; 8 referenceTaskIds []string`,
		"Part":     `1 text |string; 2 file |FilePart; 3 data |DataPart; 4 metadata Struct`,
		"FilePart": `1 fileWithUri |string; 2 fileWithBytes |bytes; 3 mimeType string; 4 name string`,
		"DataPart": `1 data Struct`,
		"Artifact": `1 artifactId string; 3 name string; 4 description string; 5 parts []Part; 6 metadata Struct;
			7 extensions []string`,
		"TaskStatusUpdateEvent": `1 taskId string; 2 contextId string; 3 status TaskStatus; 4 final bool;
			5 metadata Struct`,
		"TaskArtifactUpdateEvent": `1 taskId string; 2 contextId string; 3 artifact Artifact; 4 append bool;
			5 lastChunk bool; 6 metadata Struct`,

		// Requests and responses.
		"SendMessageRequest": `1 message Message; 2 configuration SendMessageConfiguration; 3 metadata Struct`,
		"SendMessageConfiguration": `1 acceptedOutputModes []string; 2 pushNotification PushNotificationConfig;
			3 historyLength int32; 4 blocking bool`,
		"SendMessageResponse": `1 task |Task; 2 message |Message`,
		"StreamResponse": `1 task |Task; 2 message |Message; 3 statusUpdate |TaskStatusUpdateEvent;
			4 artifactUpdate |TaskArtifactUpdateEvent`,
		"GetTaskRequest": `1 name string; 2 historyLength int32`,
		"ListTasksRequest": `1 contextId string; 2 status TaskState; 3 pageSize int32; 4 pageToken string;
			5 historyLength int32; 6 lastUpdatedTime Timestamp; 7 includeArtifacts bool`,
		"ListTasksResponse":       `1 tasks []Task; 2 nextPageToken string; 3 totalSize int32`,
		"CancelTaskRequest":       `1 name string`,
		"TaskSubscriptionRequest": `1 name string`,

		// Push notifications.
		"TaskPushNotificationConfig": `1 name string; 2 pushNotificationConfig PushNotificationConfig`,
		"PushNotificationConfig": `1 id string; 2 url string; 3 token string;
			4 authentication AuthenticationInfo`,
		"AuthenticationInfo": `1 schemes []string; 2 credentials string`,
		"CreateTaskPushNotificationConfigRequest": `1 parent string; 2 configId string;
			3 config TaskPushNotificationConfig`,
		"GetTaskPushNotificationConfigRequest":    `1 name string`,
		"DeleteTaskPushNotificationConfigRequest": `1 name string`,
		"ListTaskPushNotificationConfigRequest":   `1 parent string; 2 pageSize int32; 3 pageToken string`,
		"ListTaskPushNotificationConfigResponse":  `1 configs []TaskPushNotificationConfig; 2 nextPageToken string`,

		// The card.
		"GetAgentCardRequest": ``,
		"AgentCard": `1 name string; 2 description string; 3 url string; 4 provider AgentProvider; 5 version string;
			6 documentationUrl string; 7 capabilities AgentCapabilities; 8 securitySchemes map SecurityScheme;
			9 security []Security; 10 defaultInputModes []string; 11 defaultOutputModes []string; 12 skills []AgentSkill;
			13 supportsAuthenticatedExtendedCard bool; 14 preferredTransport string;
			15 additionalInterfaces []AgentInterface; 16 protocolVersion string; 17 signatures []AgentCardSignature;
			18 iconUrl string`,
		"AgentInterface": `1 url string; 2 transport string`,
		"AgentProvider":  `1 url string; 2 organization string`,
		"AgentCapabilities": `1 streaming bool; 2 pushNotifications bool; 3 extensions []AgentExtension;
			4 stateTransitionHistory bool`,
		"AgentExtension": `1 uri string; 2 description string; 3 required bool; 4 params Struct`,
		"AgentSkill": `1 id string; 2 name string; 3 description string; 4 tags []string; 5 examples []string;
			6 inputModes []string; 7 outputModes []string; 8 security []Security`,
		"AgentCardSignature": `1 protected string; 2 signature string; 3 header Struct`,
		"StringList":         `1 list []string`,
		"Security":           `1 schemes map StringList`,
		"SecurityScheme": `1 apiKeySecurityScheme |APIKeySecurityScheme; 2 httpAuthSecurityScheme |HTTPAuthSecurityScheme;
			3 oauth2SecurityScheme |OAuth2SecurityScheme; 4 openIdConnectSecurityScheme |OpenIdConnectSecurityScheme;
			5 mtlsSecurityScheme |MutualTlsSecurityScheme`,
		"APIKeySecurityScheme":        `1 description string; 2 location string; 3 name string`,
		"HTTPAuthSecurityScheme":      `1 description string; 2 scheme string; 3 bearerFormat string`,
		"OAuth2SecurityScheme":        `1 description string; 2 flows OAuthFlows; 3 oauth2MetadataUrl string`,
		"OpenIdConnectSecurityScheme": `1 description string; 2 openIdConnectUrl string`,
		"MutualTlsSecurityScheme":     `1 description string`,
		"OAuthFlows": `1 authorizationCode |AuthorizationCodeOAuthFlow; 2 clientCredentials |ClientCredentialsOAuthFlow;
			3 implicit |ImplicitOAuthFlow; 4 password |PasswordOAuthFlow`,
		"AuthorizationCodeOAuthFlow": `1 authorizationUrl string; 2 tokenUrl string; 3 refreshUrl string;
			4 scopes map string`,
		"ClientCredentialsOAuthFlow": `1 tokenUrl string; 2 refreshUrl string; 3 scopes map string`,
		"ImplicitOAuthFlow":          `1 authorizationUrl string; 2 refreshUrl string; 3 scopes map string`,
		"PasswordOAuthFlow":          `1 tokenUrl string; 2 refreshUrl string; 3 scopes map string`,
	},
}).compile()
