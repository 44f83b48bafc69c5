// What works on many keys: lists, mirrors, removals.
package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Files that a mirror sends or fetches at a time.
const mirrorThreads = 8

type entry struct {
	Key       string `json:"key"`
	Size      int64  `json:"size"`
	ETag      string `json:"etag,omitempty"`
	VersionID string `json:"versionId,omitempty"`
}

func list(args []string) error {
	if len(args) == 0 {
		buckets, err := client.ListBuckets(ctx)
		for _, bucket := range buckets {
			say(entry{Key: bucket.Name + "/"})
		}
		return err
	}
	bucket, prefix := split(args[0])
	if *incomplete {
		for upload := range client.ListIncompleteUploads(ctx, bucket, prefix, *recursive) {
			if upload.Err != nil {
				return upload.Err
			}
			say(entry{Key: upload.Key, Size: upload.Size})
		}
		return nil
	}
	options := minio.ListObjectsOptions{Prefix: prefix, Recursive: *recursive, WithVersions: *versions}
	for object := range client.ListObjects(ctx, bucket, options) {
		if object.Err != nil {
			return object.Err
		}
		say(entry{object.Key, object.Size, object.ETag, object.VersionID})
	}
	return nil
}

// Lists as find and mirror do: with the metadata of the objects, where the server tells it.
func below(target string) (map[string]minio.ObjectInfo, error) {
	bucket, prefix := split(target)
	found := map[string]minio.ObjectInfo{}
	options := minio.ListObjectsOptions{Prefix: prefix, Recursive: true, WithMetadata: true}
	for object := range client.ListObjects(ctx, bucket, options) {
		if object.Err != nil {
			return nil, object.Err
		}
		found[object.Key] = object
	}
	return found, nil
}

func diskUsage(args []string) error {
	found, err := below(args[0])
	size := int64(0)
	for _, object := range found {
		size += object.Size
	}
	if err == nil {
		say(map[string]any{"size": size, "objects": len(found)})
	}
	return err
}

func find(args []string) error {
	found, err := below(args[0])
	for key, object := range found {
		if isLike, _ := path.Match(args[1], path.Base(key)); isLike {
			say(entry{Key: key, Size: object.Size})
		}
	}
	return err
}

// As with --overwrite --remove: sends what is not there in this size, removes what is there alone.
func mirrorUp(args []string) error {
	folder, target := args[0], args[1]+"/"
	bucket, prefix := split(target)
	there, err := below(target)
	if err != nil {
		return err
	}
	var missing []string
	err = filepath.WalkDir(folder, func(name string, at fs.DirEntry, err error) error {
		if err != nil || at.IsDir() {
			return err
		}
		about, err := at.Info()
		if err != nil {
			return err
		}
		key := prefix + strings.TrimPrefix(name, folder+"/")
		if object, is := there[key]; !is || object.Size != about.Size() {
			missing = append(missing, key)
		}
		delete(there, key)
		return nil
	})
	if err != nil {
		return err
	}
	err = each(missing, func(key string) error {
		say(map[string]string{"sent": key})
		return putFile(filepath.Join(folder, strings.TrimPrefix(key, prefix)), bucket, key)
	})
	if err != nil {
		return err
	}
	return removeAll(bucket, streamOf(there))
}

func mirrorDown(args []string) error {
	target, folder := args[0]+"/", args[1]
	bucket, prefix := split(target)
	there, err := below(target)
	if err != nil {
		return err
	}
	var missing []string
	for key, object := range there {
		about, err := os.Stat(filepath.Join(folder, strings.TrimPrefix(key, prefix)))
		if err != nil || about.Size() != object.Size {
			missing = append(missing, key)
		}
	}
	return each(missing, func(key string) error {
		say(map[string]string{"fetched": key})
		to := filepath.Join(folder, strings.TrimPrefix(key, prefix))
		return client.FGetObject(ctx, bucket, key, to, minio.GetObjectOptions{})
	})
}

// Calls do for each name, some at a time, and returns the first error.
func each(names []string, do func(name string) error) error {
	waiting := make(chan string)
	faults := make(chan error, mirrorThreads)
	for thread := 0; thread < mirrorThreads; thread++ {
		go func() {
			var first error
			for name := range waiting {
				if err := do(name); err != nil && first == nil {
					first = err
				}
			}
			faults <- first
		}()
	}
	for _, name := range names {
		waiting <- name
	}
	close(waiting)
	var first error
	for thread := 0; thread < mirrorThreads; thread++ {
		if err := <-faults; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func remove(args []string) error {
	bucket, key := split(args[0])
	if *incomplete {
		for upload := range client.ListIncompleteUploads(ctx, bucket, key, *recursive) {
			if upload.Err != nil {
				return upload.Err
			}
			if err := client.RemoveIncompleteUpload(ctx, bucket, upload.Key); err != nil {
				return err
			}
			say(map[string]string{"removed": upload.Key})
		}
		return nil
	}
	if *recursive {
		return removeAll(bucket, client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: key, Recursive: true}))
	}
	return removeAll(bucket, streamOf(map[string]minio.ObjectInfo{key: {Key: key}}))
}

// Passes on key and version alone, as mc does.
func removeAll(bucket string, objects <-chan minio.ObjectInfo) error {
	names := make(chan minio.ObjectInfo)
	var fault error
	go func() {
		defer close(names)
		for object := range objects {
			if object.Err != nil {
				fault = object.Err
				return
			}
			names <- minio.ObjectInfo{Key: object.Key, VersionID: object.VersionID}
		}
	}()
	var first error
	for result := range client.RemoveObjectsWithResult(ctx, bucket, names, minio.RemoveObjectsOptions{}) {
		if result.Err != nil && first == nil {
			first = result.Err
		} else if result.Err == nil {
			say(map[string]string{"removed": result.ObjectName})
		}
	}
	if first == nil {
		first = fault
	}
	return first
}

func streamOf(objects map[string]minio.ObjectInfo) <-chan minio.ObjectInfo {
	stream := make(chan minio.ObjectInfo, len(objects))
	for _, object := range objects {
		stream <- object
	}
	close(stream)
	return stream
}
