# syntax=docker/dockerfile:1.7
# One image for the API, the chat UI and the command line; vLLM and Qdrant have images of their own.

FROM python:3.11.14-slim-bookworm AS build
# A package index with the CPU build of PyTorch makes the image some gigabytes smaller; see docs/deployment.md.
ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_EXTRA_INDEX_URL=${PIP_EXTRA_INDEX_URL}
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /build

# Dependencies first: this layer is kept while only our own code changes.
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
    > requirements.txt
RUN --mount=type=cache,target=/root/.cache/pip pip install --constraint constraints.txt --requirement requirements.txt

COPY README.md LICENSE ./
COPY retrieval retrieval
COPY ingestion ingestion
COPY tools tools
COPY agents agents
COPY app app
COPY ui ui
COPY evals evals
RUN --mount=type=cache,target=/root/.cache/pip pip install --no-deps .

FROM python:3.11.14-slim-bookworm AS runtime
LABEL org.opencontainers.image.title="Groundwork" \
      org.opencontainers.image.description="Answers over your own documents, each sentence checked against stored text" \
      org.opencontainers.image.licenses="Apache-2.0"
# libgomp: the embedded model server is linked against it. tesseract: text of scanned pages and pictures, in English; other
# languages are packages tesseract-ocr-LANGUAGE. Debian keeps one version of each a release, so none is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 tesseract-ocr tesseract-ocr-eng tesseract-ocr-osd \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 groundwork \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin groundwork \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/venv /opt/venv
COPY samples/handbook /app/samples/handbook
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    GROUNDWORK_HOME=/data
WORKDIR /app
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8080 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["groundwork"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
