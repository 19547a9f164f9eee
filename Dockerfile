# The worker, and the command line. `--build-arg EXTRAS=torch,files` adds embedding models of sentence-transformers and cross-encoders.
# PyTorch then brings several GB of CUDA libraries on x86-64. Its publisher has an index of CPU builds, which pip can use, too:
#   docker compose build --build-arg EXTRAS=torch,files --build-arg PIP_EXTRA_INDEX_URL=…
FROM python:3.11-slim AS build

ARG EXTRAS=files
ARG PIP_EXTRA_INDEX_URL
RUN python -m venv /opt/pgclarify
ENV PATH=/opt/pgclarify/bin:$PATH

# Layers that rarely change come first, so that a change of our code keeps the layer with the libraries and the embedding model.
WORKDIR /usr/src/pgclarify
COPY minilm minilm
RUN pip install --no-cache-dir ./minilm
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
extras = [project['optional-dependencies'][name] for name in ('worker', *'$EXTRAS'.split(','))]; \
print('\n'.join(each for each in sum(extras, project['dependencies']) if not each.startswith('pgclarify')))" > requirements.txt \
    && pip install --no-cache-dir --constraint constraints.txt --requirement requirements.txt

COPY README.md LICENSE ./
COPY migrations migrations
COPY sql sql
COPY dbt dbt
COPY docs docs
COPY pgclarify pgclarify
RUN pip install --no-cache-dir --no-deps .

FROM python:3.11-slim

RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin pgclarify
COPY --from=build /opt/pgclarify /opt/pgclarify
ENV PATH=/opt/pgclarify/bin:$PATH
# A number, so that Kubernetes knows that it is not root.
USER 1000
WORKDIR /home/pgclarify
# This worker itself must be among the live workers. A shell has to run the pipe:
# hadolint ignore=DL3025
HEALTHCHECK --interval=30s --timeout=20s --retries=3 --start-period=120s \
    CMD pgclarify doctor --json | grep --quiet "\"host\": \"$(hostname)\""
ENTRYPOINT ["pgclarify"]
CMD ["worker"]
