"""The ways in: command line, service, Spark, Scrapy, datatrove. A door decides nothing."""
