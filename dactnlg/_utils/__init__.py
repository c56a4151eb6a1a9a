"""What has nothing to do with language: hashing, files, packaged resources, processors, processes, bounded memory."""
