# dehusk as a command and as a service. docs/install.md says how to build and run it.
FROM python:3.13-slim AS build
ARG EXTRAS=crawl,serve,warc
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
WORKDIR /src
COPY LICENSE README.md pyproject.toml setup.py ./
COPY src src
RUN python -m venv /opt/dehusk && /opt/dehusk/bin/pip install --no-cache-dir ".[$EXTRAS]"

FROM python:3.13-slim
COPY --from=build /opt/dehusk /opt/dehusk
ENV PATH=/opt/dehusk/bin:$PATH
RUN useradd --create-home husk && install -d -o husk -g husk /data
USER husk
WORKDIR /data
VOLUME /data
EXPOSE 8100
ENTRYPOINT ["dehusk"]
# Requests come to the host's address, so the names by which they ask for it are given.
CMD ["serve", "--host", "0.0.0.0", "--name", "localhost", "--name", "127.0.0.1", "--memory", "/data/crawl.husk"]
