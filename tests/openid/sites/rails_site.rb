# frozen_string_literal: true

# An application on Rails with the code of docs/recipes/rails.md, and pages for the tests. It prints its address, reads its
# client, and serves.

require 'json'
require 'logger'
require 'rails'
require 'active_record'
require 'action_controller/railtie'
require 'omniauth/rails_csrf_protection'
require 'omniauth_openid_connect'
require 'puma'
require 'puma/server'
require 'puma/events'

PAGE = File.read(File.expand_path('../../../docs/recipes/rails.md', __dir__))

# Returns the block of the recipe below this line, which names its file.
def recipe(line, language = 'ruby')
  PAGE[/^#{Regexp.escape(line)}.*?^```#{language}\n(.*?)^```$/m, 1] or abort("docs/recipes/rails.md has no block for #{line}")
end

# Changes the nonce of a login, as `/login?spoil=nonce` requests.
class Spoiler
  def initialize(app)
    @app = app
  end

  def call(env)
    request = Rack::Request.new(env)
    request.session['spoil'] = request.params['spoil'] if request.path == '/login'
    reply = @app.call(env)
    request.session['omniauth.nonce'] = 'another' if request.path == '/auth/signpost' && request.session['spoil'] == 'nonce'
    reply
  end
end

server = Puma::Server.new(->(env) { Rails.application.call(env) }, Puma::Events.strings, min_threads: 1, max_threads: 1)
port = server.add_tcp_listener('127.0.0.1', 0).addr[1]
site = "http://127.0.0.1:#{port}"
$stdout.puts({ origin: site, port: port }.to_json)
$stdout.flush
client = JSON.parse($stdin.gets)
ENV.update('SITE' => site, 'SIGNPOST_ISSUER' => client['issuer'], 'SIGNPOST_CLIENT_ID' => client['client_id'],
           'SIGNPOST_CLIENT_SECRET' => client['client_secret'])

class Site < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = 'a secret for tests only, of 40 characters'
  config.logger = Logger.new($stderr, level: :warn)
  config.hosts.clear
  config.consider_all_requests_local = true
end

eval(recipe('`config/initializers/signpost.rb`'), TOPLEVEL_BINDING, 'config/initializers/signpost.rb')
Rails.application.config.middleware.insert_before OmniAuth::Builder, Spoiler
ActiveRecord::Base.establish_connection(adapter: 'sqlite3', database: ':memory:', pool: 1)
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define { create_table(:users) { |table| table.string :signpost_id, index: { unique: true } } }
ActiveRecord::Base.clear_active_connections! # the database in memory has a single connection, for the server's thread

class User < ActiveRecord::Base; end

eval(recipe('`app/controllers/logins_controller.rb`'), TOPLEVEL_BINDING, 'app/controllers/logins_controller.rb')

# Stores the claims for the test, and shows the reason of a failure.
module ForTests
  CLAIMS = {}

  def create
    super
    CLAIMS[session[:user_id]] = request.env['omniauth.auth'].extra.raw_info
  end

  def failure
    super
    response.body = "#{params[:message]}: #{response.body}"
  end
end
LoginsController.prepend(ForTests)

class PagesController < ActionController::Base
  BUTTONS = recipe('The users, in a migration', 'erb')

  def home
    user = User.find_by(id: session[:user_id])
    return render plain: 'nobody', status: :unauthorized unless user

    render json: ForTests::CLAIMS.fetch(user.id).merge(signpost_id: user.signpost_id)
  end

  def buttons
    render inline: BUTTONS, locals: { session: request.path == '/login' ? {} : session }
  end
end

Rails.application.initialize!
routes = recipe('`config/routes.rb`')
Rails.application.routes.draw do
  eval(routes, binding, 'config/routes.rb')
  get '/', to: 'pages#home'
  get '/login', to: 'pages#buttons'
  get '/logout', to: 'pages#buttons'
end

server.run
$stdout.puts 'ready'
$stdout.flush
# The parent process has ended.
$stdin.read
server.stop(true)
