"""Act -> checked sentence: generator, reranking, bulk files, export."""
