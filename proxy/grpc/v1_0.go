package grpc

// package1_0 has the messages of A2A 1.0: package lf.a2a.v1 of its a2a.proto, which defines the objects (1.0 section
// 1.4) and the operations (section 10).
var package1_0 = (&schema{
	enums: map[string]*enum{
		"TaskState": {[]string{
			"TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED",
			"TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED",
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
		"Message": `1 messageId string; 2 contextId string; 3 taskId string; 4 role Role; 5 parts []Part;
			6 metadata Struct; 7 extensions []string; 8 referenceTaskIds []string`,
		"Part": `1 text |string; 2 raw |bytes; 3 url |string; 4 data |Value; 5 metadata Struct; 6 filename string;
			7 mediaType string`,
		"Artifact": `1 artifactId string; 2 name string; 3 description string; 4 parts []Part; 5 metadata Struct;
			6 extensions []string`,
		"TaskStatusUpdateEvent": `1 taskId string; 2 contextId string; 3 status TaskStatus; 4 metadata Struct`,
		"TaskArtifactUpdateEvent": `1 taskId string; 2 contextId string; 3 artifact Artifact; 4 append bool;
			5 lastChunk bool; 6 metadata Struct`,

		// Requests and responses.
		"SendMessageRequest": `1 tenant string; 2 message Message; 3 configuration SendMessageConfiguration;
			4 metadata Struct`,
		"SendMessageConfiguration": `1 acceptedOutputModes []string;
			2 taskPushNotificationConfig TaskPushNotificationConfig; 3 historyLength ?int32; 4 returnImmediately bool`,
		"SendMessageResponse": `1 task |Task; 2 message |Message`,
		"StreamResponse": `1 task |Task; 2 message |Message; 3 statusUpdate |TaskStatusUpdateEvent;
			4 artifactUpdate |TaskArtifactUpdateEvent`,
		"GetTaskRequest": `1 tenant string; 2 id string; 3 historyLength ?int32`,
		"ListTasksRequest": `1 tenant string; 2 contextId string; 3 status TaskState; 4 pageSize ?int32;
			5 pageToken string; 6 historyLength ?int32; 7 statusTimestampAfter Timestamp; 8 includeArtifacts ?bool`,
		"ListTasksResponse":      `1 tasks []Task; 2 nextPageToken string; 3 pageSize int32; 4 totalSize int32`,
		"CancelTaskRequest":      `1 tenant string; 2 id string; 3 metadata Struct`,
		"SubscribeToTaskRequest": `1 tenant string; 2 id string`,

		// Push notifications.
		"TaskPushNotificationConfig": `1 tenant string; 2 id string; 3 taskId string; 4 url string; 5 token string;
			6 authentication AuthenticationInfo`,
		"AuthenticationInfo":                      `1 scheme string; 2 credentials string`,
		"GetTaskPushNotificationConfigRequest":    `1 tenant string; 2 taskId string; 3 id string`,
		"DeleteTaskPushNotificationConfigRequest": `1 tenant string; 2 taskId string; 3 id string`,
		"ListTaskPushNotificationConfigsRequest": `1 taskId string; 2 pageSize int32; 3 pageToken string;
			4 tenant string`,
		"ListTaskPushNotificationConfigsResponse": `1 configs []TaskPushNotificationConfig; 2 nextPageToken string`,

		// The card.
		"GetExtendedAgentCardRequest": `1 tenant string`,
		"AgentCard": `1 name string; 2 description string; 3 supportedInterfaces []AgentInterface;
			4 provider AgentProvider; 5 version string; 6 documentationUrl ?string; 7 capabilities AgentCapabilities;
			8 securitySchemes map SecurityScheme; 9 securityRequirements []SecurityRequirement;
			10 defaultInputModes []string; 11 defaultOutputModes []string; 12 skills []AgentSkill;
			13 signatures []AgentCardSignature; 14 iconUrl ?string`,
		"AgentInterface": `1 url string; 2 protocolBinding string; 3 tenant string; 4 protocolVersion string`,
		"AgentProvider":  `1 url string; 2 organization string`,
		"AgentCapabilities": `1 streaming ?bool; 2 pushNotifications ?bool; 3 extensions []AgentExtension;
			4 extendedAgentCard ?bool`,
		"AgentExtension": `1 uri string; 2 description string; 3 required bool; 4 params Struct`,
		"AgentSkill": `1 id string; 2 name string; 3 description string; 4 tags []string; 5 examples []string;
			6 inputModes []string; 7 outputModes []string; 8 securityRequirements []SecurityRequirement`,
		"AgentCardSignature":  `1 protected string; 2 signature string; 3 header Struct`,
		"StringList":          `1 list []string`,
		"SecurityRequirement": `1 schemes map StringList`,
		"SecurityScheme": `1 apiKeySecurityScheme |APIKeySecurityScheme; 2 httpAuthSecurityScheme |HTTPAuthSecurityScheme;
			3 oauth2SecurityScheme |OAuth2SecurityScheme; 4 openIdConnectSecurityScheme |OpenIdConnectSecurityScheme;
			5 mtlsSecurityScheme |MutualTlsSecurityScheme`,
		"APIKeySecurityScheme":        `1 description string; 2 location string; 3 name string`,
		"HTTPAuthSecurityScheme":      `1 description string; 2 scheme string; 3 bearerFormat string`,
		"OAuth2SecurityScheme":        `1 description string; 2 flows OAuthFlows; 3 oauth2MetadataUrl string`,
		"OpenIdConnectSecurityScheme": `1 description string; 2 openIdConnectUrl string`,
		"MutualTlsSecurityScheme":     `1 description string`,
		"OAuthFlows": `1 authorizationCode |AuthorizationCodeOAuthFlow; 2 clientCredentials |ClientCredentialsOAuthFlow;
			3 implicit |ImplicitOAuthFlow; 4 password |PasswordOAuthFlow; 5 deviceCode |DeviceCodeOAuthFlow`,
		"AuthorizationCodeOAuthFlow": `1 authorizationUrl string; 2 tokenUrl string; 3 refreshUrl string;
			4 scopes map string; 5 pkceRequired bool`,
		"ClientCredentialsOAuthFlow": `1 tokenUrl string; 2 refreshUrl string; 3 scopes map string`,
		"ImplicitOAuthFlow":          `1 authorizationUrl string; 2 refreshUrl string; 3 scopes map string`,
		"PasswordOAuthFlow":          `1 tokenUrl string; 2 refreshUrl string; 3 scopes map string`,
		"DeviceCodeOAuthFlow": `1 deviceAuthorizationUrl string; 2 tokenUrl string; 3 refreshUrl string;
			4 scopes map string`,
	},
}).compile()
