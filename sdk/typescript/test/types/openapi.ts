// The package's types match openapi.yaml, and each operation has a method.
import type * as sdk from '@signpost/sdk';
import type { components, operations } from '../made/openapi.js';
import type { All, Equal, EqualEvents, Plain } from './equal.js';

type Schemas = components['schemas'];
type UserEvent = Required<Extract<Plain<Schemas['Event']>, { event?: sdk.Mode }>>;
type UserChangeEvent = Required<Extract<Plain<Schemas['Event']>, { event?: sdk.UserEventKind }>>;
type TestEvent = Required<Extract<Plain<Schemas['Event']>, { event?: 'test' }>>;

export type Compared = All<{
  Answer: Equal<sdk.Answer, Schemas['Answer']>;
  Client: Equal<sdk.Client, Schemas['Client']>;
  ClientChange: Equal<sdk.ClientChange, Schemas['ClientChange']>;
  ClientRotation: Equal<sdk.ClientRotation, Schemas['ClientRotation']>;
  ClientWithSecret: Equal<sdk.ClientWithSecret, Schemas['ClientWithSecret']>;
  Completion: Equal<sdk.Completion, Schemas['Completion']>;
  CreatedSession: Equal<sdk.CreatedSession, Schemas['CreatedSession']>;
  Credential: Equal<sdk.Credential, Schemas['Credential']>;
  Delivery: Equal<sdk.Delivery, Schemas['Delivery']>;
  DeliveryList: Equal<sdk.DeliveryList, Schemas['DeliveryList']>;
  DeliveryState: Equal<sdk.DeliveryState, Schemas['DeliveryState']>;
  Device: Equal<sdk.Device, Schemas['Device']>;
  Domain: Equal<sdk.Domain, Schemas['Domain']>;
  DomainChange: Equal<sdk.DomainChange, Schemas['DomainChange']>;
  DomainList: Equal<sdk.DomainList, Schemas['DomainList']>;
  UserEvent: EqualEvents<sdk.UserEvent, UserEvent>;
  UserChangeEvent: EqualEvents<sdk.UserChangeEvent, UserChangeEvent>;
  UserEventData: Equal<sdk.UserEventData, Schemas['UserEventData']>;
  EventKind: Equal<sdk.EventKind, Schemas['EventKind']>;
  TestEvent: EqualEvents<Omit<sdk.TestEvent, 'data'>, Omit<TestEvent, 'data'>>;
  Kinds: EqualEvents<NonNullable<Schemas['Event']['event']>, sdk.SignpostEvent['event']>;
  EventData: Equal<sdk.EventData, Schemas['EventData']>;
  HostedUser: Equal<sdk.HostedUser, Schemas['HostedUser']>;
  ImportOutcome: Equal<sdk.ImportOutcome, Schemas['ImportOutcome']>;
  ListedDomain: Equal<sdk.ListedDomain, Schemas['ListedDomain']>;
  LoginMethod: Equal<sdk.LoginMethod, Schemas['LoginMethod']>;
  Metadata: Equal<sdk.Metadata, Schemas['Metadata']>;
  Mode: Equal<sdk.Mode, Schemas['Mode']>;
  MachineReport: Equal<sdk.MachineReport, Schemas['MachineReport']>;
  NewClient: Equal<sdk.NewClient, Schemas['NewClient']>;
  NewDomain: Equal<sdk.NewDomain, Schemas['NewDomain']>;
  NewReport: Equal<sdk.NewReport, Schemas['NewReport']>;
  NewSession: Equal<sdk.NewSession, Schemas['NewSession']>;
  NewUser: Equal<sdk.NewUser, Schemas['NewUser']>;
  ProvedDomain: Equal<sdk.ProvedDomain, Schemas['ProvedDomain']>;
  RefreshedSession: Equal<sdk.RefreshedSession, Schemas['RefreshedSession']>;
  RegisteredDomain: Equal<sdk.RegisteredDomain, Schemas['RegisteredDomain']>;
  Requester: Equal<sdk.Requester, Schemas['Requester']>;
  Retried: Equal<sdk.Retried, Schemas['Retried']>;
  Session: Equal<sdk.Session, Schemas['Session']>;
  SessionList: Equal<sdk.SessionList, Schemas['SessionList']>;
  Signed: Equal<sdk.Signed, Schemas['Signed']>;
  SignIn: Equal<sdk.SignIn, Schemas['SignIn']>;
  SignInList: Equal<sdk.SignInList, Schemas['SignInList']>;
  Simulated: Equal<sdk.Simulated, Schemas['Simulated']>;
  Simulation: Equal<sdk.Simulation, Schemas['Simulation']>;
  Status: Equal<sdk.SessionStatus, Schemas['Status']>;
  UserChange: Equal<sdk.UserChange, Schemas['UserChange']>;
  UserList: Equal<sdk.UserList, Schemas['UserList']>;
  Verification: Equal<sdk.Verification, Schemas['Verification']>;
}>;

/** Operations without a method: calls of wallets and of the command line, calls to sites, and the document itself. */
type NotCalled =
  | 'getAccount' | 'listSignedEvents' | 'getDocument' | 'getReference'
  | `receive${string}` | 'showLogin' | 'hostLogin' | 'showRegister' | 'hostRegister' | 'showLink' | 'hostLink';

/** The arguments and the result of each operation. */
interface Methods {
  listClients: [sdk.Clients['list'], sdk.ClientList];
  createClient: [sdk.Clients['create'], sdk.ClientWithSecret];
  getClient: [sdk.Clients['get'], sdk.Client];
  changeClient: [sdk.Clients['update'], sdk.Client];
  deleteClient: [sdk.Clients['delete'], void];
  rotateClientSecret: [sdk.Clients['rotateSecret'], sdk.ClientWithSecret];
  reportMachines: [sdk.Atms['submit'], sdk.ImportOutcome];
  reportAtm: [sdk.Atms['report'], sdk.MachineReport];
  listSessions: [sdk.Sessions['list'], sdk.SessionList];
  createSession: [sdk.Sessions['create'], sdk.CreatedSession];
  getSession: [sdk.Sessions['get'], sdk.Session];
  cancelSession: [sdk.Sessions['cancel'], void];
  drawSessionSvg: [sdk.Sessions['qrSvg'], string];
  refreshSession: [sdk.Sessions['refresh'], sdk.RefreshedSession];
  authenticateSession: [sdk.Sessions['authenticate'], sdk.Session];
  completeSession: [sdk.Sessions['complete'], sdk.Session];
  simulateWallet: [sdk.Sessions['simulate'], sdk.Simulation];
  verifySignature: [sdk.Signpost['verify'], sdk.Verification];
  listDomains: [sdk.Domains['list'], sdk.DomainList];
  registerDomain: [sdk.Domains['create'], sdk.RegisteredDomain];
  getDomain: [sdk.Domains['get'], sdk.Domain];
  changeDomain: [sdk.Domains['update'], sdk.Domain];
  deleteDomain: [sdk.Domains['delete'], void];
  verifyDomain: [sdk.Domains['verify'], sdk.ProvedDomain];
  sendTestEvent: [sdk.Domains['sendTestEvent'], sdk.Delivery];
  listUsers: [sdk.Users['list'], sdk.UserList];
  createUser: [sdk.Users['create'], sdk.HostedUser];
  getUser: [sdk.Users['get'], sdk.HostedUser];
  changeUser: [sdk.Users['update'], sdk.HostedUser];
  deleteUser: [sdk.Users['delete'], void];
  deleteUsers: [sdk.Users['deleteAll'], void];
  deleteCredential: [sdk.Users['deleteCredential'], void];
  listSignIns: [sdk.Users['signIns'], sdk.SignInList];
  endSignIns: [sdk.Users['endSignIns'], void];
  endSignIn: [sdk.Users['endSignIn'], void];
  listDeliveries: [sdk.Deliveries['list'], sdk.DeliveryList];
  retryDeliveries: [sdk.Deliveries['retryAll'], sdk.Retried];
  getDelivery: [sdk.Deliveries['get'], sdk.Delivery];
  retryDelivery: [sdk.Deliveries['retry'], sdk.Delivery];
}

/** The JSON of an operation's success, or its text; void for 204. */
type Success<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? (R[S] extends { content: infer C } ? C[keyof C] : never) : S extends 204 ? void : never }[keyof R]
  : never;

/** Every code of the document is in the union. */
export type Codes = All<{ [Code in Schemas['Error']['error']['code']]: Code extends sdk.ServiceErrorCode ? true : ['not in the union', Code] }>;

export type Called = All<{
  [Name in Exclude<keyof operations, NotCalled | keyof Untyped>]: Name extends keyof Methods
    ? Methods[Name] extends [(...args: never[]) => Promise<infer Reply>, infer Named]
      ? [Equal<Reply, Named>, Equal<Reply, Success<operations[Name]>>] extends [true, true]
        ? true
        : ['another reply', Name]
      : ['no method', Name]
    : ['not there', Name];
}>;

export type Queries = All<{
  sessions: Equal<NonNullable<Parameters<sdk.Sessions['list']>[0]>, NonNullable<operations['listSessions']['parameters']['query']>>;
  session: Equal<NonNullable<Parameters<sdk.Sessions['get']>[1]>, NonNullable<operations['getSession']['parameters']['query']>>;
  deliveries: Equal<NonNullable<Parameters<sdk.Deliveries['list']>[0]>, NonNullable<operations['listDeliveries']['parameters']['query']>>;
  users: Equal<NonNullable<Parameters<sdk.Users['list']>[1]>, NonNullable<operations['listUsers']['parameters']['query']>>;
}>;

/** Operations with a method whose reply has no type in the document: a stream of states, and an image. */
interface Untyped {
  followSession: Equal<ReturnType<sdk.Sessions['follow']>, AsyncGenerator<sdk.Session, void, undefined>>;
  drawSessionPng: Equal<ReturnType<sdk.Sessions['qrPng']>, Promise<Uint8Array>>;
}

export type UntypedReplies = All<{ [Name in keyof Untyped & keyof operations]: Untyped[Name] }>;
