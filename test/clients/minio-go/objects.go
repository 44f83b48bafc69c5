// Objects sent, fetched, copied, shown and shared.
package main

import (
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/tags"
)

// From this size on mc copies in parts.
const composeSize = 64 << 20

// How long what was shared may be used.
const shareTime = time.Hour

func putOptions() minio.PutObjectOptions {
	options := minio.PutObjectOptions{
		ContentType:    "application/octet-stream",
		UserMetadata:   map[string]string{},
		SendContentMd5: *md5,
		PartSize:       *partSize,
		NumThreads:     4,
	}
	for _, pair := range strings.Split(*attr, ";") {
		if name, value, has := strings.Cut(pair, "="); has && name == "Content-Type" {
			options.ContentType = value
		} else if has {
			options.UserMetadata[name] = value
		}
	}
	if *tagging != "" {
		set, err := tags.Parse(*tagging, true)
		check(err)
		options.UserTags = set.ToMap()
	}
	return options
}

func put(args []string) error {
	bucket, key := split(args[1])
	return putFile(args[0], bucket, key)
}

func putFile(name, bucket, key string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return err
	}
	_, err = client.PutObject(ctx, bucket, key, file, about.Size(), putOptions())
	return err
}

func pipe(args []string) error {
	bucket, key := split(args[0])
	options := putOptions()
	options.ConcurrentStreamParts = true
	_, err := client.PutObject(ctx, bucket, key, os.Stdin, -1, options)
	return err
}

func get(args []string) error {
	bucket, key := split(args[0])
	return client.FGetObject(ctx, bucket, key, args[1], minio.GetObjectOptions{})
}

func cat(args []string) error {
	bucket, key := split(args[0])
	options := minio.GetObjectOptions{PartNumber: *part}
	if *offset != 0 {
		if err := options.SetRange(*offset, 0); err != nil {
			return err
		}
	}
	object, err := client.GetObject(ctx, bucket, key, options)
	if err == nil {
		_, err = io.Copy(os.Stdout, object)
	}
	return err
}

// Looks for an object, then for a folder of that name.
func stat(args []string) error {
	bucket, key := split(args[0])
	object, err := client.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err == nil {
		say(map[string]any{
			"key": object.Key, "size": object.Size, "etag": object.ETag, "contentType": object.ContentType,
			"metadata": object.UserMetadata, "tags": object.UserTagCount, "expires": object.ExpirationRuleID,
		})
		return nil
	}
	if minio.ToErrorResponse(err).Code != "NoSuchKey" {
		return err
	}
	folder := minio.ListObjectsOptions{Prefix: key + "/", MaxKeys: 1}
	for object := range client.ListObjects(ctx, bucket, folder) {
		if object.Err == nil {
			say(map[string]any{"folder": folder.Prefix})
			return nil
		}
	}
	return err
}

func source(target string) minio.CopySrcOptions {
	bucket, key := split(target)
	return minio.CopySrcOptions{Bucket: bucket, Object: key}
}

func destination(target string) minio.CopyDestOptions {
	bucket, key := split(target)
	metadata := putOptions().UserMetadata
	return minio.CopyDestOptions{
		Bucket: bucket, Object: key, UserMetadata: metadata, ReplaceMetadata: len(metadata) > 0,
	}
}

func copyObject(args []string) error {
	from := source(args[0])
	about, err := client.StatObject(ctx, from.Bucket, from.Object, minio.StatObjectOptions{})
	if err != nil {
		return err
	}
	if about.Size < composeSize {
		_, err = client.CopyObject(ctx, destination(args[1]), from)
	} else {
		_, err = client.ComposeObject(ctx, destination(args[1]), from)
	}
	return err
}

// One object of several, the last argument: mc has no command for it, but copies parts so.
func concat(args []string) error {
	var sources []minio.CopySrcOptions
	for _, target := range args[:len(args)-1] {
		sources = append(sources, source(target))
	}
	_, err := client.ComposeObject(ctx, destination(args[len(args)-1]), sources...)
	return err
}

func shareDownload(args []string) error {
	bucket, key := split(args[0])
	address, err := client.PresignedGetObject(ctx, bucket, key, shareTime, url.Values{})
	if err == nil {
		say(map[string]string{"url": address.String()})
	}
	return err
}

// mc shares uploads as forms; programs made with its library as addresses, too.
func sharePut(args []string) error {
	bucket, key := split(args[0])
	address, err := client.PresignedPutObject(ctx, bucket, key, shareTime)
	if err == nil {
		say(map[string]string{"url": address.String()})
	}
	return err
}

func shareUpload(args []string) error {
	bucket, key := split(args[0])
	policy := minio.NewPostPolicy()
	check(policy.SetExpires(time.Now().UTC().Add(shareTime)))
	check(policy.SetContentType("text/plain"))
	check(policy.SetBucket(bucket))
	if *recursive {
		check(policy.SetKeyStartsWith(key))
	} else {
		check(policy.SetKey(key))
	}
	address, fields, err := client.PresignedPostPolicy(ctx, policy)
	if err == nil {
		say(map[string]any{"url": address.String(), "fields": fields})
	}
	return err
}
