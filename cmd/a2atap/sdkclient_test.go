package main

import (
	"context"
	"fmt"
	"os"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	client03 "github.com/a2aproject/a2a-go/a2aclient"
	card03 "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// inTheClear has clients speak gRPC without TLS.
var inTheClear = grpc.WithTransportCredentials(insecure.NewCredentials())

// once runs a client of an official Go SDK: URL TEXT send|stream.
func once(send func(ctx context.Context, url, text string, stream bool) error) func() {
	return func() {
		if err := send(context.Background(), os.Args[1], os.Args[2], os.Args[3] == "stream"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func sendGo2(ctx context.Context, url, text string, stream bool) error {
	card, err := agentcard.NewResolver(nil).Resolve(ctx, url)
	if err != nil {
		return err
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2agrpc.WithGRPCTransport(inTheClear))
	if err != nil {
		return err
	}
	message := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
	if !stream {
		_, err = client.SendMessage(ctx, message)
		return err
	}
	for _, err := range client.SendStreamingMessage(ctx, message) {
		if err != nil {
			return err
		}
	}
	return nil
}

func sendGo03(ctx context.Context, url, text string, stream bool) error {
	card, err := card03.NewResolver(nil).Resolve(ctx, url)
	if err != nil {
		return err
	}
	client, err := client03.NewFromCard(ctx, card, client03.WithGRPCTransport(inTheClear))
	if err != nil {
		return err
	}
	message := &a2a03.MessageSendParams{Message: a2a03.NewMessage(a2a03.MessageRoleUser, a2a03.TextPart{Text: text})}
	if !stream {
		_, err = client.SendMessage(ctx, message)
		return err
	}
	for _, err := range client.SendStreamingMessage(ctx, message) {
		if err != nil {
			return err
		}
	}
	return nil
}
