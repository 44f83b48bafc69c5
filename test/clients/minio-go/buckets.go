// What is done to buckets, and what they are set to.
package main

import (
	"bytes"
	"encoding/json"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/lifecycle"
	"github.com/minio/minio-go/v7/pkg/tags"
)

func makeBucket(args []string) error {
	bucket, key := split(args[0])
	if key == "" {
		return client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: "us-east-1"})
	}
	_, err := client.PutObject(ctx, bucket, key, bytes.NewReader(nil), 0, minio.PutObjectOptions{SendContentMd5: true})
	return err
}

func removeBucket(args []string) error {
	if *force {
		all := minio.ListObjectsOptions{Recursive: true, WithVersions: true}
		if err := removeAll(args[0], client.ListObjects(ctx, args[0], all)); err != nil {
			return err
		}
	}
	return client.RemoveBucketWithOptions(ctx, args[0], minio.RemoveBucketOptions{ForceDelete: *force})
}

// What stat asks of a bucket. mc passes over what fails; here it is told by its code.
func bucketInfo(args []string) error {
	bucket := args[0]
	exists, err := client.BucketExists(ctx, bucket)
	if err != nil {
		return err
	}
	about := map[string]any{"exists": exists}
	tell := func(name string, value any, err error) {
		if err != nil {
			value = minio.ToErrorResponse(err).Code
		}
		about[name] = value
	}
	location, err := client.GetBucketLocation(ctx, bucket)
	tell("location", location, err)
	versioning, err := client.GetBucketVersioning(ctx, bucket)
	tell("versioning", versioning.Status, err)
	lock, _, _, _, err := client.GetObjectLockConfig(ctx, bucket)
	tell("lock", lock, err)
	replication, err := client.GetBucketReplication(ctx, bucket)
	tell("replication", replication.Rules, err)
	encryption, err := client.GetBucketEncryption(ctx, bucket)
	if err == nil {
		tell("encryption", encryption.Rules[0].Apply.SSEAlgorithm, nil)
	} else {
		tell("encryption", nil, err)
	}
	notification, err := client.GetBucketNotification(ctx, bucket)
	tell("notification", len(notification.QueueConfigs), err)
	say(about)
	return nil
}

func setTags(args []string) error {
	bucket, key := split(args[0])
	set, err := tags.Parse(args[1], key != "")
	if err != nil {
		return err
	}
	if key == "" {
		return client.SetBucketTagging(ctx, bucket, set)
	}
	return client.PutObjectTagging(ctx, bucket, key, set, minio.PutObjectTaggingOptions{})
}

func listTags(args []string) error {
	bucket, key := split(args[0])
	var set *tags.Tags
	var err error
	if key == "" {
		set, err = client.GetBucketTagging(ctx, bucket)
	} else {
		set, err = client.GetObjectTagging(ctx, bucket, key, minio.GetObjectTaggingOptions{})
	}
	if err == nil {
		say(set.ToMap())
	}
	return err
}

func removeTags(args []string) error {
	bucket, key := split(args[0])
	if key == "" {
		return client.RemoveBucketTagging(ctx, bucket)
	}
	return client.RemoveObjectTagging(ctx, bucket, key, minio.RemoveObjectTaggingOptions{})
}

// Without rules it takes away those that there are, as ilm rule remove --all does.
func importLifecycle(args []string) error {
	config := lifecycle.NewConfiguration()
	if len(args) > 1 {
		check(json.Unmarshal([]byte(args[1]), config))
	}
	return client.SetBucketLifecycle(ctx, args[0], config)
}

func exportLifecycle(args []string) error {
	config, err := client.GetBucketLifecycle(ctx, args[0])
	if err == nil {
		say(config)
	}
	return err
}

func getPolicy(args []string) error {
	policy, err := client.GetBucketPolicy(ctx, args[0])
	if err == nil {
		say(map[string]string{"policy": policy})
	}
	return err
}

func setPolicy(args []string) error {
	return client.SetBucketPolicy(ctx, args[0], args[1])
}

func enableVersions(args []string) error {
	return client.EnableVersioning(ctx, args[0])
}
